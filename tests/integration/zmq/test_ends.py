"""However a kernel ends, what it had sent is read first, then it is told how it ended, and nothing is left of it."""

import os
import signal
import stat
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.kernels import tether as tether_module
from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.transport import KernelEnded
from pisces.kernels.zmq.transport import ZmqTransport
from tests.fakes.drive import PATIENCE, eventually
from tests.integration.native.processes import FAMILY, alive, pids_in, stop
from tests.integration.zmq.conftest import Start
from tests.integration.zmq.raw import RawClient, text

SLEEP = "import time; print('ready', flush=True); time.sleep(600)"


async def to_the_end(transport: ZmqTransport) -> tuple[list[Message], KernelEnded]:
    """All messages, and what `receive` raises after them."""
    taken: list[Message] = []
    with anyio.fail_after(PATIENCE):
        while True:
            try:
                taken.append(await transport.receive())
            except KernelEnded as error:
                return taken, error


@pytest.mark.parametrize(
    ("code", "exit_code", "signum"),
    [
        ("import os; os.kill(os.getpid(), 9)", None, signal.SIGKILL),
        ("import ctypes; ctypes.string_at(0)", None, signal.SIGSEGV),
        ("import os; os._exit(0)", 0, None),
        ("import os; os._exit(3)", 3, None),
        # A process with a debugger stops at each signal, and stopping is not ending.
        (
            "import ctypes, os, time; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 17); os._exit(3)",
            3,
            None,
        ),
    ],
)
async def test_a_death_is_told_as_it_happened(
    client: RawClient, code: str, exit_code: int | None, signum: int | None
) -> None:
    await client.send(code)
    _, error = await to_the_end(client.transport)
    assert error.exit is not None
    assert (error.exit.code, error.exit.signal) == (exit_code, signum)
    assert client.transport.ended == error.exit
    with pytest.raises(KernelEnded):
        await client.send("1")
    with pytest.raises(KernelEnded):
        await client.transport.receive()
    assert client.transport.receive_nowait() is None
    assert not await client.transport.interrupt()


async def test_what_had_been_sent_before_the_death_is_read_first(client: RawClient, tmp_path: Path) -> None:
    said = tmp_path / "said"
    code = f"""
import os, time
for i in range(500): print(i, flush=True)
open({str(said)!r}, 'w').close()
time.sleep(600)
"""
    await client.send(code)
    await eventually(said.exists, within=PATIENCE)
    # One thread writes all channels of a kernel: what it answers now leaves after what it printed before.
    await client.transport.send(client.make.kernel_info("control"))
    taken = await client.until(lambda message: message.channel == "control")
    psutil.Process(client.transport.pid).kill()
    await eventually(lambda: client.transport.ended is not None)
    rest, _ = await to_the_end(client.transport)
    assert text(taken + rest) == "".join(f"{i}\n" for i in range(500))


async def test_a_crash_in_c_code_is_told_with_its_line_where_the_kernel_writes_it(client: RawClient) -> None:
    code = """
import ctypes, faulthandler, sys
faulthandler.enable(sys.stderr._original_stdstream_copy)
def touch(): ctypes.string_at(0)
touch()
"""
    await client.send(code)
    _, error = await to_the_end(client.transport)
    assert error.exit is not None
    assert error.exit.detail.startswith("Fatal Python error: Segmentation fault")
    assert "touch" in error.exit.detail


async def test_a_kill_reaches_whoever_waits_for_a_message(client: RawClient) -> None:
    await client.send(SLEEP)
    await client.prints("ready")
    ends: list[KernelEnded] = []

    async def wait() -> None:
        ends.append((await to_the_end(client.transport))[1])

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        waiting.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await client.transport.kill()
    assert [error.exit and error.exit.signal for error in ends] == [signal.SIGKILL, signal.SIGKILL]


@pytest.mark.parametrize("how", ["kill", "shutdown", "crash"])
async def test_all_that_the_kernel_started_ends_with_it(client: RawClient, how: str) -> None:
    pids = pids_in(text(await client.run(FAMILY)))
    assert len(alive(pids)) == len(pids)
    match how:
        case "kill":
            await client.transport.kill()
            assert alive(pids) == []
        case "shutdown":
            await client.transport.shutdown()
            assert alive(pids) == []
        case "crash":
            await client.send("import os; os._exit(1)")
            await to_the_end(client.transport)
            await eventually(lambda: alive(pids) == [])


async def test_a_kernel_ends_with_the_process_that_holds_it(client: RawClient) -> None:
    pids = pids_in(text(await client.run(FAMILY)))
    tether = psutil.Process(client.transport.pid).parent()
    assert tether is not None
    tether.kill()
    _, error = await to_the_end(client.transport)
    assert error.exit is not None
    assert error.exit.describe() == "ended together with the process that held it"
    await client.transport.kill()
    assert alive(pids) == []


async def test_an_end_under_a_stopped_tether_is_told_as_it_happened(
    monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setattr(tether_module, "_LOOK_SECONDS", 0.1)
    client = await start()
    tether = psutil.Process(client.transport.pid).parent()
    assert tether is not None
    tether.suspend()
    await client.send("import os; os._exit(3)")
    _, error = await to_the_end(client.transport)
    assert error.exit is not None
    assert error.exit.code == 3


async def test_a_stopped_kernel_and_its_stopped_tether_can_be_interrupted(client: RawClient) -> None:
    request = await client.send(SLEEP)
    await client.prints("ready")
    process = psutil.Process(client.transport.pid)
    tether = process.parent()
    assert tether is not None
    await stop(tether.pid)
    await stop(process.pid)
    assert await client.transport.interrupt()
    with anyio.fail_after(PATIENCE):
        await client.rest(request)


async def test_a_shutdown_runs_what_was_registered_for_the_end(client: RawClient, tmp_path: Path) -> None:
    told = tmp_path / "told"
    await client.run(f"import atexit; atexit.register(lambda: open({str(told)!r}, 'w').write('bye'))")
    await client.transport.shutdown()
    assert told.read_text(encoding="utf-8") == "bye"
    assert client.transport.ended is not None
    assert client.transport.ended.code == 0
    await client.transport.shutdown()
    await client.transport.kill()


async def test_a_kernel_that_is_busy_is_not_waited_for_long(client: RawClient) -> None:
    await client.send(SLEEP)
    await client.prints("ready")
    with anyio.fail_after(PATIENCE):  # The cell would go on for ten minutes.
        await client.transport.shutdown()
    assert client.transport.ended is not None
    assert client.transport.ended.signal == signal.SIGKILL


async def test_files_and_sockets_are_private_and_gone_at_the_end(temporary: Path, start: Start) -> None:
    client = await start()
    (folder,) = os.listdir(temporary)
    files = [path.stat().st_mode for path in (temporary / folder).glob("*")]
    assert stat.S_IMODE(os.stat(temporary / folder).st_mode) == 0o700
    assert [stat.S_IMODE(mode) for mode in files if stat.S_ISREG(mode)] == [0o600]
    assert len([mode for mode in files if stat.S_ISSOCK(mode)]) == 5
    await client.transport.shutdown()
    assert os.listdir(temporary) == []


@pytest.mark.parametrize(
    "code", [SLEEP, "print('ready', flush=True)\nwhile True: pass", "import os\nos.system('echo ready; sleep 600')"]
)
async def test_an_interrupt_reaches_the_cell_and_what_it_runs(client: RawClient, code: str) -> None:
    request = await client.send(code)
    await client.prints("ready")
    settled = False
    with anyio.fail_after(PATIENCE):
        while not settled:  # One that comes in the moment before code blocks in the system is not seen.
            assert await client.transport.interrupt()
            with anyio.move_on_after(2.0):
                await client.rest(request)
                settled = True
    assert await client.value("1 + 1") == "2"


async def test_interrupts_at_once_are_all_sent(client: RawClient) -> None:
    code = """
import signal, time
got = []
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGINT, lambda *_: got.append(1))
print('ready', flush=True)
while not got: time.sleep(0.01)
"""
    request = await client.send(code)
    await client.prints("ready")
    async with anyio.create_task_group() as together:
        for _ in range(5):
            together.start_soon(client.transport.interrupt)
    await client.rest(request)


async def test_what_the_kernel_writes_besides_its_messages_is_taken_off_its_hands(client: RawClient) -> None:
    code = """
import os, sys
raw = sys.stderr._original_stdstream_copy
for _ in range(64): os.write(raw, b'x' * 16384)
os.write(raw, b'last words')
"""
    await client.run(code)
    assert client.transport._process is not None
    assert client.transport._process.words().endswith("xlast words")


async def test_a_kernel_that_uses_more_memory_than_it_may_is_killed_and_it_is_said_why(start: Start) -> None:
    client = await start(memory_limit_mb=100)
    assert text(await client.run("kept = bytearray(50 << 20); print('fits')")) == "fits\n"
    await client.send("more = bytearray(b'x') * (200 << 20)\nimport time; time.sleep(600)")
    _, error = await to_the_end(client.transport)
    assert error.exit is not None
    assert "python.memoryLimitMb allows" in error.exit.describe()
    assert error.exit.signal == signal.SIGKILL
