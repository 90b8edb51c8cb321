"""The short cuts of the local gateway, put into a Kernel Gateway as it comes: complete, in order, bounded, and true."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.error import HTTPError

import anyio
import psutil
import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalBackend
from pisces.kernels.gateway.websocket import WebSocket
from pisces.kernels.jupyter import ws_v1
from pisces.kernels.jupyter.message import Message, MessageMaker
from tests.fakes.drive import PATIENCE, begin, eventually, plain_environment, stands_still, value
from tests.fakes.servers import KERNEL_GATEWAY, Server, ask, serving

pytestmark = [pytest.mark.anyio, pytest.mark.heavy]

SPEED = Path(__file__).parents[3] / "src/pisces/guest/gateway_speed.py"
APP = "--KernelGatewayApp"
MB = 1 << 20

PUBLISH = """
import zmq
kernel = get_ipython().kernel
kernel.iopub_thread.schedule(lambda: kernel.iopub_thread.socket.set(zmq.SNDHWM, 0))
def publish(text):
    kernel.send_response(kernel.iopub_socket, "stream", {"name": "stdout", "text": text})
"""
"""A way to send one message for each text; the kernel keeps what nobody takes instead of dropping it."""


@pytest.fixture(scope="module")
def quick_gateway(jupyter_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("quick")
    modules = folder / "modules"
    modules.mkdir()
    shutil.copy(SPEED, modules)
    options = (
        f"{APP}.kernel_websocket_connection_class=gateway_speed.QuickConnection",
        f"{APP}.kernel_manager_class=gateway_speed.QuickKernelManager",
        "--ZMQChannelsWebsocketConnection.limit_rate=False",
        "--AsyncIOLoopKernelRestarter.restart_limit=0",
        "--AsyncIOLoopKernelRestarter.time_to_dead=0.2",
    )
    with serving(KERNEL_GATEWAY, jupyter_python, folder, options=options, env={"PYTHONPATH": str(modules)}) as server:
        yield server


class Client:
    """One that reads only when the test wants it to."""

    def __init__(self, server: Server, kernel: str) -> None:
        self._server = server
        self.kernel = kernel
        self._maker = MessageMaker()
        self._socket: WebSocket | None = None

    async def connect(self) -> None:
        url = f"{self._server.url.replace('http', 'ws')}/api/kernels/{self.kernel}/channels"
        self._socket = await WebSocket.connect(
            f"{url}?session_id={self._maker.session}",
            headers={"Authorization": f"token {self._server.token}"},
            tls=None,
            subprotocol=ws_v1.SUBPROTOCOL,
        )
        assert self._socket.subprotocol == ws_v1.SUBPROTOCOL

    def cut(self) -> None:
        assert self._socket is not None
        self._socket.abort()

    def send(self, code: str) -> Message:
        assert self._socket is not None
        request = self._maker.execute(code)
        payload, text = ws_v1.encode(request)
        self._socket.send(payload, text=text)
        return request

    async def receive(self) -> Message:
        assert self._socket is not None
        with anyio.fail_after(PATIENCE):
            await self._socket.wait()
        frame = self._socket.take()
        assert frame is not None, "the connection is closed"
        return ws_v1.decode(frame[0], text=frame[1])

    async def answers(self, request: Message) -> list[Message]:
        """All that is said about a request, to its end."""
        said: list[Message] = []
        awaited = {"idle", "execute_reply"}
        while awaited:
            message = await self.receive()
            if message.parent == request.id:
                said.append(message)
                awaited -= {message.type, message.content.get("execution_state")}
        return said

    async def run(self, code: str) -> list[Message]:
        return await self.answers(self.send(code))


def texts(said: list[Message]) -> list[str]:
    return [message.content["text"] for message in said if message.type == "stream"]


def state(server: Server, kernel: str) -> str:
    """What the gateway says of a kernel; it forgets those that have died."""
    try:
        answer: str = ask(server, f"/api/kernels/{kernel}")["execution_state"]
    except HTTPError as error:
        if error.code != 404:
            raise
        return "gone"
    return answer


@pytest.fixture
async def client(quick_gateway: Server) -> AsyncIterator[Client]:
    kernel = ask(quick_gateway, "/api/kernels", method="POST", body={"name": "python3"})["id"]
    client = Client(quick_gateway, kernel)
    await client.connect()
    yield client
    client.cut()
    if state(quick_gateway, kernel) != "gone":
        ask(quick_gateway, f"/api/kernels/{kernel}", method="DELETE")


async def test_a_flood_of_messages_comes_whole_and_in_order(client: Client) -> None:
    await client.run(PUBLISH)
    said = await client.run("for number in range(20_000): publish(f'{number}\\n')")
    assert "".join(texts(said)) == "".join(f"{number}\n" for number in range(20_000))
    assert [message.content["execution_state"] for message in said if message.type == "status"] == ["busy", "idle"]


async def test_messages_of_every_size_keep_their_order_and_their_parts(client: Client) -> None:
    await client.run(PUBLISH)
    sizes = [0, 1, 100, 126, 60_000, 65_536, 300_000, 5 * MB, 3]
    said = await client.run(f"""
for size in {sizes}:
    publish("x" * size)
    kernel.session.send(kernel.iopub_socket, "display_data", {{"data": {{}}, "metadata": {{}}}},
                        parent=kernel.get_parent(), buffers=[b"a" * size, b""])
""")
    assert [len(text) for text in texts(said)] == sizes
    shown = [message for message in said if message.type == "display_data"]
    assert [message.buffers for message in shown] == [(b"a" * size, b"") for size in sizes]


async def test_a_client_that_does_not_read_costs_the_gateway_little_and_loses_nothing(
    quick_gateway: Server, client: Client
) -> None:
    await client.run(PUBLISH)
    reader = Client(quick_gateway, client.kernel)
    await reader.connect()
    await reader.run("")  # It hears what is published from now on.
    gateway = psutil.Process(quick_gateway.pid)
    before = gateway.memory_info().rss
    request = client.send("for number in range(600): publish(f'{number:06d}' + 'x' * 262_144)")
    numbers: list[int] = []
    while numbers[-1:] != [599]:  # When this one has all of it, the other has been offered all of it too.
        message = await reader.receive()
        if message.type == "stream":
            numbers.append(int(message.content["text"][:6]))
    # That were 150 MB. 16 MB wait, and what the sockets hold, and the messages that have not been taken.
    assert gateway.memory_info().rss - before < 100 * MB
    reader.cut()
    assert numbers == list(range(600))
    assert [int(text[:6]) for text in texts(await client.answers(request))] == numbers


async def test_what_a_kernel_said_before_it_died_is_heard_by_a_client_that_was_slow(
    quick_gateway: Server, client: Client, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    await client.run(PUBLISH)
    client.send(f"""
import os, pathlib
for number in range(90):
    publish(f"{{number:06d}}" + "x" * 262_144)
kernel.iopub_thread.schedule(lambda: pathlib.Path({str(pid)!r}).write_text(str(os.getpid())))
""")
    await eventually(lambda: pid.exists() and pid.read_text(encoding="ascii") != "")
    process = psutil.Process(int(pid.read_text(encoding="ascii")))
    # All that it published has left it: it is less than waits on the way. Neither works while it waits for the other.
    for each in (process, psutil.Process(quick_gateway.pid), process):
        await stands_still(each)
    process.kill()
    await eventually(lambda: state(quick_gateway, client.kernel) == "gone", within=2 * PATIENCE)
    heard: list[Message] = []
    while not heard or heard[-1].content.get("execution_state") != "dead":
        heard.append(await client.receive())
    assert [int(text[:6]) for text in texts(heard)] == list(range(90))


async def test_whether_a_kernel_is_busy_is_known_while_clients_come_and_go(
    quick_gateway: Server, client: Client, tmp_path: Path
) -> None:
    def is_(wanted: str) -> bool:
        return state(quick_gateway, client.kernel) == wanted

    flag = tmp_path / "flag"
    waiting = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.01)"
    request = client.send(waiting)
    await eventually(lambda: is_("busy"))
    client.cut()
    await client.connect()
    assert is_("busy")
    flag.touch()
    await client.answers(request)
    await eventually(lambda: is_("idle"))
    flag.unlink()
    client.send(waiting)
    await eventually(lambda: is_("busy"))
    client.cut()
    flag.touch()
    await eventually(lambda: is_("idle"))
    await client.connect()
    assert texts(await client.run("print('back')")) == ["back\n"]


async def test_two_clients_of_a_kernel_hear_the_same(quick_gateway: Server, client: Client) -> None:
    other = Client(quick_gateway, client.kernel)
    await other.connect()
    await other.run("")  # It hears what is published from now on.
    try:
        request = client.send("print('for both')")
        assert texts(await client.answers(request)) == ["for both\n"]
        while (message := await other.receive()).type != "stream":
            pass
        assert (message.parent, message.content["text"]) == (request.id, "for both\n")
    finally:
        other.cut()


async def test_a_cell_loses_nothing_of_a_flood_that_nobody_takes_for_a_while(
    quick_gateway: Server, tmp_path: Path
) -> None:
    """100 MB in 5,000 messages: more than all queues on the way hold."""
    backend = ExternalBackend(quick_gateway.url, quick_gateway.token)
    kernel = backend.kernel(LaunchSpec(quick_gateway.interpreter, str(tmp_path), plain_environment()))
    await kernel.start(Deadline.after(PATIENCE))
    process = psutil.Process(int(await value(kernel, "__import__('os').getpid()")))
    try:
        running = await begin(
            kernel,
            """
kernel = get_ipython().kernel
for number in range(5_000):
    text = f"{number:05d}" + "x" * 20_000
    kernel.send_response(kernel.iopub_socket, "stream", {"name": "stdout", "text": text})
""",
        )
        await running.started()
        await stands_still(process)
        ran = await running.finish()
        assert ran.stdout.replace("x", "") == "".join(f"{number:05d}" for number in range(5_000))
    finally:
        await kernel.shutdown()
        await backend.aclose()
