"""Messages go to a real kernel and come back, all of them, whatever is sent and whoever stops waiting."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.message import Channel, Message
from pisces.kernels.jupyter.transport import KernelEnded
from pisces.kernels.zmq.channels import Channels
from pisces.kernels.zmq.transport import ZmqTransport
from tests.fakes.drive import PATIENCE, eventually
from tests.integration.zmq.conftest import MakeSpec, Start
from tests.integration.zmq.raw import RawClient, text


@pytest.mark.usefixtures("no_descriptor_is_left")
async def test_a_cell_runs_and_all_is_closed_afterwards(start: Start) -> None:
    client = await start()
    said = await client.run("print('a'); 1 + 1")
    assert text(said) == "a\n"
    (result,) = [message for message in said if message.type == "execute_result"]
    assert result.content["data"] == {"text/plain": "2"}
    assert {message.channel for message in said} == {"shell", "iopub"}
    await client.transport.shutdown()


async def test_a_cancelled_wait_loses_no_message(client: RawClient) -> None:
    request = await client.send("for i in range(300): print(i, flush=True)")
    printed = ""
    ended = False
    with anyio.fail_after(60):
        while not ended:
            with anyio.move_on_after(0.0005):
                message = await client.transport.receive()
                printed += text([message])
                ended = message.parent == request.id and message.content.get("execution_state") == "idle"
    assert printed == "".join(f"{i}\n" for i in range(300))


async def test_what_is_there_already_can_be_had_without_waiting(client: RawClient) -> None:
    await client.run("")
    assert client.transport.receive_nowait() is None
    request = await client.send("print('x')")
    taken: list[Message] = []
    with anyio.fail_after(60):
        while not any(message.type == "execute_reply" for message in taken):
            message = client.transport.receive_nowait()
            if message is None:
                await anyio.sleep(0.005)
            else:
                taken.append(message)
    assert all(message.parent == request.id for message in taken)


async def test_others_get_their_turn_while_many_messages_are_taken(client: RawClient, tmp_path: Path) -> None:
    code = f"""
kernel = get_ipython().kernel
for _ in range(500):  # A kernel drops what goes beyond a thousand that wait to be sent.
    kernel.session.send(kernel.iopub_socket, 'stream', {{'name': 'stdout', 'text': 'x'}}, kernel.get_parent())
print('all', flush=True)
open({str(tmp_path / "sent")!r}, 'w').close()
"""
    request = await client.send(code)
    await eventually((tmp_path / "sent").exists, within=PATIENCE)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as others:
        others.start_soon(count)
        said = await client.rest(request)
        others.cancel_scope.cancel()
    assert text(said) == "x" * 500 + "all\n"
    assert turns >= 5


async def test_megabytes_arrive_whole(client: RawClient) -> None:
    said = await client.run("for _ in range(20 * 1024): print('x' * 1023)")
    assert text(said) == ("x" * 1023 + "\n") * (20 * 1024)


async def test_a_big_cell_is_sent_whole(client: RawClient) -> None:
    big = "x" * 5_000_000
    assert await client.value(f"len('{big}')") == "5000000"


async def test_a_prompt_is_heard_and_its_answer_reaches_the_cell(client: RawClient) -> None:
    request = await client.send("print('got', repr(input('name? ')))")
    said = await client.until(lambda message: message.type == "input_request")
    assert (said[-1].channel, said[-1].content["prompt"]) == ("stdin", "name? ")
    await client.transport.send(client.make.input_reply(said[-1]))
    assert text(await client.rest(request)) == "got ''\n"


async def test_what_is_no_message_is_counted_and_skipped(client: RawClient) -> None:
    nonsense = """
publish = get_ipython().kernel.iopub_socket.send_multipart
publish([b'nonsense'])
publish([b'stream', b'<IDS|MSG>', b'forged', b'{}', b'{}', b'{}', b'{}'])
print('after')
"""
    assert text(await client.run(nonsense)) == "after\n"
    assert client.transport.rejected == 2


async def test_buffers_arrive_beside_their_message(client: RawClient) -> None:
    code = """
kernel = get_ipython().kernel
bundle = {'data': {}, 'metadata': {}}
kernel.session.send(kernel.iopub_socket, 'display_data', bundle, kernel.get_parent(), buffers=[b'a\\0', b'b' * 100000])
"""
    said = await client.run(code)
    (shown,) = [message for message in said if message.type == "display_data"]
    assert shown.buffers == (b"a\0", b"b" * 100_000)


async def test_output_that_nobody_takes_does_not_keep_the_loop_busy(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    code = f"""
import os, threading, time
def later():
    while not os.path.exists({str(go)!r}): time.sleep(0.01)
    print('later')
threading.Thread(target=later).start()
"""
    looks = 0
    look = Channels._on_readable

    def counted(channels: Channels, channel: Channel) -> None:
        nonlocal looks
        looks += 1
        look(channels, channel)

    monkeypatch.setattr(Channels, "_on_readable", counted)
    client = await start()
    await client.run(code)
    while client.transport.receive_nowait() is not None:
        pass
    looks = 0
    go.touch()
    await eventually(lambda: looks > 0)
    for _ in range(200):
        await anyio.lowlevel.checkpoint()
    assert looks < 20
    await client.prints("later")


class Recording(ZmqTransport):
    """Remembers every message."""

    def __init__(self, spec: LaunchSpec) -> None:
        super().__init__(spec)
        self.said: list[Message] = []

    async def receive(self) -> Message:
        self.said.append(await super().receive())
        return self.said[-1]


@pytest.mark.parametrize("kernelspec", ["", "python3"])
async def test_a_kernel_says_nothing_to_the_user_by_itself(
    make_spec: MakeSpec, jupyter_python: str, kernelspec: str
) -> None:
    transport = Recording(make_spec(kernelspec, interpreter=jupyter_python))
    await transport.open(Deadline.after(PATIENCE))
    client = RawClient(transport)
    await client.meet()
    await client.run("")
    await transport.shutdown()
    assert text(transport.said, "stderr") + text(transport.said) == ""


async def test_a_transport_that_was_not_opened_says_so(make_spec: MakeSpec) -> None:
    transport = ZmqTransport(make_spec())
    assert (transport.ended, transport.pid, transport.receive_nowait()) == (None, 0, None)
    assert not await transport.interrupt()
    with pytest.raises(KernelEnded, match="has not been started"):
        await transport.receive()
    with pytest.raises(KernelEnded, match="has not been started"):
        await transport.send(RawClient(transport).make.kernel_info())
    await transport.kill()
    await transport.shutdown()
