"""gRPC beside checkpoints: its channels go on, nothing is lost with a crash, and no fork is seen in the output."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pisces.runtime import Runtime
from tests.environments import interpreter_of
from tests.fakes.runtimes import call, kernel_of, runtime_on

pytestmark = [pytest.mark.heavy, pytest.mark.processes]

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
SERVER = """
import grpc
from concurrent import futures
class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: request + b'!')
server = grpc.server(futures.ThreadPoolExecutor(2))
server.add_generic_rpc_handlers((Echo(),))
port = server.add_insecure_port('127.0.0.1:0')
server.start()
"""
CHANNEL = """
import grpc
channel = grpc.insecure_channel(f'127.0.0.1:{port}')
say = channel.unary_unary('/echo/say')
answer = say(b'hello', timeout=60)
"""
AGAIN = "say(b'again', timeout=60)"
ASYNC_CHANNEL = """
import grpc
channel = grpc.aio.insecure_channel(f'127.0.0.1:{port}')
say = channel.unary_unary('/echo/say')
answer = await say(b'hello', timeout=60)
"""
ASYNC_AGAIN = "await say(b'again', timeout=60)"


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with runtime_on(interpreter_of("state"), tmp_path, checkpoint="always") as runtime:
        yield runtime


@pytest.fixture
async def port(runtime: Runtime) -> int:
    """Where a server of another session listens."""
    await call(runtime, SERVER, session="server")
    return int((await call(runtime, "port", session="server")).text)


@pytest.mark.parametrize(
    ("channel", "again"), [(CHANNEL, AGAIN), (ASYNC_CHANNEL, ASYNC_AGAIN)], ids=["threads", "asyncio"]
)
async def test_cells_after_a_channel_survive_crashes(runtime: Runtime, port: int, channel: str, again: str) -> None:
    await call(runtime, f"port = {port}")
    for round_number in range(2):
        for code in (channel, f"count = {round_number}", again):
            ran = await call(runtime, code)
            assert not ran.is_error, ran.text
        crashed = kernel_of(await call(runtime, CRASH)).restore
        assert crashed is not None
        assert (crashed.how, crashed.cells_lost) == ("by_value", 0)
        assert (await call(runtime, "count, answer")).text == f"({round_number}, b'hello!')"


async def test_a_server_and_its_channel_in_one_session_survive_crashes(runtime: Runtime) -> None:
    for code in (SERVER, CHANNEL, "count = 1", AGAIN):
        ran = await call(runtime, code)
        assert not ran.is_error, ran.text
    crashed = kernel_of(await call(runtime, CRASH)).restore
    assert crashed is not None
    assert (crashed.how, crashed.cells_lost) == ("by_value", 0)
    assert (await call(runtime, "count, answer")).text == "(1, b'hello!')"
    await call(runtime, f"{SERVER}{CHANNEL}")
    assert (await call(runtime, AGAIN)).text == "b'again!'"


async def test_undo_after_a_channel_goes_back_one_cell(runtime: Runtime, port: int) -> None:
    for code in (f"port = {port}", CHANNEL, "count = 1", "count = 2"):
        await call(runtime, code)
    undone = await runtime.session("undo")
    assert not undone.is_error, undone.text
    assert (await call(runtime, "count, answer")).text == "(1, b'hello!')"


async def test_forks_do_not_show_in_the_output(runtime: Runtime) -> None:
    for code in (SERVER, CHANNEL):
        await call(runtime, code)
    assert (await call(runtime, AGAIN)).text == "b'again!'"
    assert (await call(runtime, "import os; _ = os.write(2, b'written by the user')")).text == "written by the user"
    assert (await call(runtime, AGAIN)).text == "b'again!'"
