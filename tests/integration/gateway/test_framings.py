"""Both framings against a real server: the newer one, and the older one where a server takes no other."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalGateway
from pisces.kernels.gateway.transport import GatewayTransport
from pisces.kernels.jupyter import ws_json, ws_v1
from pisces.kernels.jupyter.message import Message, MessageMaker
from tests.fakes.drive import PATIENCE, plain_environment
from tests.fakes.servers import KERNEL_GATEWAY, Server, serving

OLDER = ("--ZMQChannelsWebsocketConnection.kernel_ws_protocol=",)
"""A server that knows no other framing, as all did once, takes the older one."""

SENDS_BUFFERS = """
from comm import create_comm
create_comm(target_name='nobody', data={'name': 'grüße'}, buffers=[b'\\x00\\x01', b'', b'\\xff' * 1000])
print('done')
"""


@pytest.fixture(scope="module", params=[ws_v1, ws_json], ids=["v1", "json"])
def framing(request: pytest.FixtureRequest) -> ModuleType:
    chosen: ModuleType = request.param
    return chosen


@pytest.fixture(scope="module")
def server(framing: ModuleType, jupyter_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    options = () if framing is ws_v1 else OLDER
    folder: Path = tmp_path_factory.mktemp("framing")
    with serving(KERNEL_GATEWAY, jupyter_python, folder, options=options) as found:
        yield found


@pytest.fixture
async def transport(server: Server, framing: ModuleType) -> AsyncIterator[GatewayTransport]:
    gateway = ExternalGateway(server.url, server.token)
    made = GatewayTransport(gateway, LaunchSpec("python", "/", plain_environment()))
    await made.open(Deadline.after(PATIENCE))
    assert made._link._framing is framing
    yield made
    await made.shutdown()
    await gateway.aclose()


async def answers(transport: GatewayTransport, request: Message) -> list[Message]:
    """All that comes of a request, up to its end."""
    found: list[Message] = []
    await transport.send(request)
    with anyio.fail_after(PATIENCE):
        while {"execute_reply", "idle"} - {message.type for message in found} - {state_in(m) for m in found}:
            message = await transport.receive()
            if message.parent == request.id:
                found.append(message)
    return found


def state_in(message: Message) -> str:
    return str(message.content.get("execution_state", ""))


async def test_text_of_any_script_goes_both_ways(transport: GatewayTransport) -> None:
    request = MessageMaker(transport.client).execute("text = 'äΩ漢😀\\ud83d'[:-1]; print(text)")
    found = await answers(transport, request)
    text = "".join(message.content["text"] for message in found if message.type == "stream")
    assert text == "äΩ漢😀\n"
    (reply,) = [message for message in found if message.type == "execute_reply"]
    assert (reply.channel, reply.content["status"]) == ("shell", "ok")


async def test_buffers_arrive_as_they_were(transport: GatewayTransport) -> None:
    found = await answers(transport, MessageMaker(transport.client).execute(SENDS_BUFFERS))
    (opened,) = [message for message in found if message.type == "comm_open"]
    assert opened.buffers == (b"\x00\x01", b"", b"\xff" * 1000)
    assert opened.content["data"] == {"name": "grüße"}
    assert transport.take_notes() == ()


async def test_buffers_reach_the_kernel(transport: GatewayTransport) -> None:
    maker = MessageMaker(transport.client)
    listening = """
from comm import get_comm_manager
heard = []
def opened(comm, message):
    heard.extend(bytes(buffer) for buffer in message['buffers'])
get_comm_manager().register_target('ours', opened)
"""
    await answers(transport, maker.execute(listening))
    content = {"comm_id": "c1", "target_name": "ours", "data": {}}
    made = maker.make("shell", "comm_open", content)
    await transport.send(Message("shell", made.header, {}, content, {}, (b"\x00abc", b"\xff")))
    found = await answers(transport, maker.execute("print(heard)"))
    text = "".join(message.content["text"] for message in found if message.type == "stream")
    assert text == "[b'\\x00abc', b'\\xff']\n"
