"""The end of a kernel, of its supervisor or of the host is the end of everything below."""

import os
import resource
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest
from anyio.abc import Process

from pisces.errors import KernelGone
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native import zygote as zygote_module
from pisces.kernels.native.backend import NativeBackend
from pisces.kernels.native.kernel import NativeKernel
from pisces.kernels.native.remains import end_remains
from pisces.model.events import ProcessExit
from tests.contract import cells
from tests.fakes.drive import PATIENCE, begin, eventually, ok, plain_environment, run, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import pid_of
from tests.integration.native.processes import FAMILY, alive, pids_in, stop
from tests.leftovers import COOKIE
from tests.source_tree import ROOT

HOST = """
import os, sys, anyio
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native import zygote as zygote_module
from pisces.kernels.native.backend import NativeBackend

async def main(interpreter, folder, code):
    backend = NativeBackend()
    cookie = {name: value for name, value in os.environ.items() if name == "@COOKIE@"}
    kernel = backend.kernel(LaunchSpec(interpreter, folder, {"PATH": "/usr/bin:/bin", "HOME": folder, **cookie}))
    await kernel.start(Deadline.after(30))
    execution = await kernel.execute(ExecuteRequest(code))
    while True:
        for event in await execution.receive():
            sys.stdout.write(getattr(event, "text", ""))
            sys.stdout.flush()

anyio.run(main, *sys.argv[1:])
""".replace("@COOKIE@", COOKIE)


def start_host(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", HOST, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def supervisor_of(pid: int) -> psutil.Process:
    parent = psutil.Process(pid).parent()
    assert parent is not None
    return parent


async def test_a_kill_ends_the_whole_family_at_once(kernel: NativeKernel) -> None:
    running = await begin(kernel, FAMILY + "time.sleep(300)")
    await running.prints("\n")
    pids = pids_in((await running.until(lambda ran: "pids" in ran.stdout)).stdout)
    assert alive(pids) == pids
    await kernel.kill()
    assert alive(pids) == []
    assert (await running.finish()).done.status == "crashed"


async def test_a_shutdown_ends_what_was_left_in_the_background(kernel: NativeKernel) -> None:
    pids = pids_in((await ok(kernel, FAMILY)).stdout)
    assert alive(pids) == pids
    await kernel.shutdown()
    assert alive(pids) == []


async def test_a_crash_ends_what_was_left_in_the_background(kernel: NativeKernel) -> None:
    ran = await run(kernel, FAMILY + "os._exit(1)")
    assert ran.done.status == "crashed"
    await eventually(lambda: alive(pids_in(ran.stdout)) == [])


async def test_the_processes_of_one_kernel_outlive_another(start: StartKernel) -> None:
    first, second = await start(), await start()
    kept = pids_in((await ok(first, FAMILY)).stdout)
    pids_in((await ok(second, FAMILY)).stdout)
    await second.kill()
    assert alive(kept) == kept
    assert await value(first, "1 + 1") == "2"


@pytest.mark.parametrize("busy", [False, True], ids=["between cells", "in a cell"])
async def test_when_the_host_is_killed_everything_goes(plain_python: str, tmp_path: Path, busy: bool) -> None:
    code = FAMILY + ("while True: pass" if busy else "")
    host = start_host(plain_python, str(tmp_path), code)
    with host:
        assert host.stdout is not None
        pids = pids_in(await anyio.to_thread.run_sync(host.stdout.readline))
        pids.append(supervisor_of(pids[0]).pid)
        assert alive(pids) == pids
        host.kill()
    await eventually(lambda: alive(pids) == [], within=10)


SHARE = """
import time
from multiprocessing.resource_tracker import _resource_tracker as tracker
from multiprocessing.shared_memory import SharedMemory

def ignores_interrupts(pid):
    with open(f'/proc/{pid}/status') as file:
        return any(int(line.split()[1], 16) & 2 for line in file if line.startswith('SigIgn'))

memory = SharedMemory(create=True, size=1)
while not ignores_interrupts(tracker._pid):  # That is, it has started.
    time.sleep(0.01)
print(memory.name)
"""


async def test_when_the_host_is_killed_a_stopped_supervisor_still_ends_everything(
    plain_python: str, tmp_path: Path
) -> None:
    host = start_host(plain_python, str(tmp_path), SHARE + FAMILY)
    with host:
        assert host.stdout is not None
        block = (await anyio.to_thread.run_sync(host.stdout.readline)).strip()
        pids = pids_in(await anyio.to_thread.run_sync(host.stdout.readline))
        supervisor = supervisor_of(pids[0])
        await stop(supervisor.pid)
        assert block in os.listdir("/dev/shm")
        host.kill()
    await eventually(lambda: alive([*pids, supervisor.pid]) == [], within=10)
    assert block not in os.listdir("/dev/shm")


async def test_when_the_supervisor_is_killed_its_kernels_are_gone_and_say_so(start: StartKernel) -> None:
    first, second = await start(), await start()
    pids = pids_in((await ok(first, FAMILY)).stdout)
    running = await begin(second, cells.SLEEP)
    await running.prints("ready")
    supervisor_of(pids[0]).kill()
    ran = await running.finish()
    assert (ran.done.status, ran.done.state) == ("crashed", "lost")
    await eventually(lambda: alive(pids) == [])
    assert not await first.is_alive()
    with pytest.raises(KernelGone):
        await first.execute(ExecuteRequest("1"))
    again = await start()
    assert await value(again, "1 + 1") == "2"


# Some sandboxes refuse to tell the resource limits of another process.
def test_what_a_dead_supervisor_left_is_found_by_its_environment_where_limits_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: int) -> tuple[int, int]:
        raise PermissionError

    cookie = secrets.token_hex(8)
    with subprocess.Popen(["sleep", "300"], env={"PI_KERNEL_COOKIE": cookie}) as left:
        monkeypatch.setattr(resource, "prlimit", refuse)
        try:
            end_remains([cookie])
            assert left.wait(PATIENCE) == -signal.SIGKILL
        finally:
            left.kill()


async def test_a_kernel_that_makes_its_supervisor_its_debugger_goes_on_and_ends_as_any_other(
    kernel: NativeKernel,
) -> None:
    trace = "import ctypes, os, signal, subprocess\ntraced = ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0"
    assert await value(kernel, trace + "\ntraced") == "True"
    assert await value(kernel, "subprocess.run(['true']).returncode") == "0"  # SIGCHLD stops a process with a debugger.
    ran = await run(kernel, trace + "\nos.kill(os.getpid(), signal.SIGUSR1)")
    ended = ran.done.process_exit
    assert ended is not None
    assert (ended.code, ended.signal) == (None, signal.SIGUSR1)


async def test_a_crash_under_a_stopped_supervisor_is_told_as_it_happened(kernel: NativeKernel) -> None:
    await stop(supervisor_of(await pid_of(kernel)).pid)
    ended = (await run(kernel, "import os; os._exit(3)")).done.process_exit
    assert ended == ProcessExit(code=3)


async def test_an_interrupt_gets_past_a_stopped_supervisor(kernel: NativeKernel) -> None:
    await stop(supervisor_of(await pid_of(kernel)).pid)
    running = await begin(kernel, cells.SLEEP)
    await running.prints("ready")
    await kernel.interrupt()
    assert (await running.finish()).done.status == "interrupted"


async def test_a_supervisor_of_which_nothing_is_asked_does_not_stay_stopped(
    kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch, start: StartKernel
) -> None:
    monkeypatch.setattr(zygote_module, "_LOOK_SECONDS", 0.1)
    supervisor = supervisor_of(await pid_of(kernel)).pid
    await (await start()).shutdown()  # The next look is planned when something is asked.
    os.kill(supervisor, signal.SIGSTOP)
    await eventually(lambda: os.waitid(os.P_PID, supervisor, os.WCONTINUED | os.WNOHANG) is not None)


DEBUGGER = """
import ctypes, sys
print(ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), None, None), flush=True)
sys.stdin.read()
"""


@asynccontextmanager
async def held_by_a_debugger(process: psutil.Process) -> AsyncIterator[Process]:
    """The debugger lets the process go at the end of the block, or when it is killed."""
    async with await anyio.open_process([sys.executable, "-c", DEBUGGER, str(process.pid)]) as debugger:
        assert debugger.stdout is not None
        if (await debugger.stdout.receive()).strip() != b"0":
            pytest.skip("this system lets nobody debug the process")
        await eventually(lambda: process.status() == psutil.STATUS_TRACING_STOP)
        yield debugger


async def test_a_supervisor_that_a_debugger_holds_is_replaced_and_its_kernels_say_so(
    start: StartKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_module, "_ANSWER_SECONDS", 0.05)
    kernel = await start()
    supervisor = supervisor_of(await pid_of(kernel))
    running = await begin(kernel, cells.SLEEP)
    await running.prints("ready")
    async with held_by_a_debugger(supervisor):
        await kernel.interrupt()
        ran = await running.finish()
    assert ran.done.process_exit is not None
    assert ran.done.process_exit.cause.endswith("its supervisor process did not answer any more and was replaced")
    assert await value(await start(), "1 + 1") == "2"


async def test_a_supervisor_that_cannot_be_reaped_holds_up_nothing_and_is_reaped_later(
    start: StartKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_module, "_ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(zygote_module, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(zygote_module, "_END_CAP", 0.1)
    kernel = await start()
    supervisor = supervisor_of(await pid_of(kernel))
    running = await begin(kernel, cells.SLEEP)
    await running.prints("ready")
    async with held_by_a_debugger(supervisor) as debugger:
        await kernel.interrupt()
        await running.finish()
        # A blocked event loop cannot end the wait, so a thread does, and the test fails instead of hanging.
        patience = threading.Timer(PATIENCE, debugger.kill)
        patience.start()
        try:
            assert await value(await start(), "1 + 1") == "2"
        finally:
            patience.cancel()
        assert supervisor.status() == psutil.STATUS_ZOMBIE  # The debugger holds it still.
    await eventually(lambda: not supervisor.is_running())


async def test_a_stopped_kernel_can_be_killed(kernel: NativeKernel) -> None:
    pid = int(await value(kernel, "import os; os.getpid()"))
    running = await begin(kernel, cells.SLEEP)
    await running.prints("ready")
    os.kill(pid, signal.SIGSTOP)
    with anyio.fail_after(PATIENCE):
        await kernel.kill()
    assert (await running.finish()).done.status == "crashed"
    assert alive([pid]) == []


async def test_a_kernel_that_stopped_itself_can_be_interrupted(kernel: NativeKernel) -> None:
    running = await begin(
        kernel, "import os, signal\nx = 1\nprint(os.getpid(), flush=True)\nos.kill(os.getpid(), 19)\nwhile 1: pass"
    )
    await running.prints("\n")
    process = psutil.Process(int((await running.until(lambda ran: "\n" in ran.stdout)).stdout))
    await eventually(lambda: process.status() == psutil.STATUS_STOPPED)
    await kernel.interrupt()
    done = (await running.finish()).done
    assert (done.status, len(done.notes)) == ("interrupted", 1)
    assert "stopped" in done.notes[0]
    assert await value(kernel, "x") == "1"


async def test_a_kernel_that_was_stopped_goes_on_when_it_is_told_to(kernel: NativeKernel) -> None:
    pid = int(await value(kernel, "import os; os.getpid()"))
    os.kill(pid, signal.SIGSTOP)
    running = await begin(kernel, "'after'")
    os.kill(pid, signal.SIGCONT)
    assert (await running.finish()).result == "'after'"


async def test_a_flood_that_nobody_reads_waits_and_can_be_killed(kernel: NativeKernel) -> None:
    running = await begin(kernel, "import os\nwhile True: os.write(1, b'x' * 65536)")
    await running.started()
    process = psutil.Process()
    before = process.memory_info().rss
    await anyio.sleep(0.2)  # Time in which it could fill hundreds of megabytes.
    assert process.memory_info().rss - before < 8 << 20
    with anyio.fail_after(PATIENCE):
        await kernel.kill()
    assert (await running.finish()).done.status == "crashed"


async def test_a_flood_between_cells_does_not_keep_the_host_busy(kernel: NativeKernel) -> None:
    await ok(
        kernel, "import threading, os\nthreading.Thread(target=lambda: os.write(1, b'x' * 60000), daemon=True).start()"
    )
    before = psutil.Process().cpu_times().user
    await anyio.sleep(0.3)  # The time that is measured.
    assert psutil.Process().cpu_times().user - before < 0.15
    ran = await ok(kernel, "pass")
    assert len(ran.stdout) <= 60_000


async def test_fifty_kernels_leave_no_descriptor_behind(
    backend: NativeBackend, plain_python: str, tmp_path: Path
) -> None:
    spec = LaunchSpec(
        plain_python, str(tmp_path), plain_environment(**{"HOME": str(tmp_path), COOKIE: os.environ[COOKIE]})
    )
    supervisor = None
    counts: list[tuple[int, int]] = []
    for number in range(50):
        kernel = backend.kernel(spec)
        await kernel.start(Deadline.after(PATIENCE))
        pid = int(await value(kernel, "import os; os.getpid()"))
        supervisor = supervisor or supervisor_of(pid)
        if number % 2:
            await kernel.kill()
        await kernel.shutdown()
        counts.append((psutil.Process().num_fds(), descriptors_of(supervisor)))
    assert counts[-1][0] <= counts[0][0]  # What an earlier test had left may be collected meanwhile.
    assert counts[-1][1] == counts[0][1]


def descriptors_of(supervisor: psutil.Process) -> int:
    try:
        return supervisor.num_fds()
    except psutil.AccessDenied:
        return 0  # Only root may look into a supervisor; the host's own are counted all the same.


async def test_a_kernel_has_only_the_descriptors_it_should(kernel: NativeKernel) -> None:
    code = "import os\nfor fd in sorted(map(int, os.listdir('/proc/self/fd'))):\n"
    code += "    try: print(fd, os.get_inheritable(fd))\n    except OSError: pass"
    ran = await ok(kernel, code)
    lines = dict(line.split() for line in ran.stdout.splitlines())
    inheritable = {int(fd) for fd, shared in lines.items() if shared == "True"}
    assert inheritable == {0, 1, 2}


async def test_supervisors_that_ended_are_collected_when_another_is_asked_for(
    plain_python: str, tmp_path: Path
) -> None:
    backend = NativeBackend(idle=2)  # Longer than a busy machine takes to make the first kernel.

    async def start_and_end(name: str) -> psutil.Process:
        environment = plain_environment(**{"HOME": str(tmp_path), COOKIE: os.environ[COOKIE], "NAME": name})
        kernel = backend.kernel(LaunchSpec(plain_python, str(tmp_path), environment))
        await kernel.start(Deadline.after(PATIENCE))
        supervisor = supervisor_of(int(await value(kernel, "__import__('os').getpid()")))
        await kernel.shutdown()
        return supervisor

    try:
        first = await start_and_end("first")
        await eventually(lambda: first.status() == psutil.STATUS_ZOMBIE)
        await start_and_end("second")
        assert not first.is_running()
    finally:
        await backend.aclose()


async def test_a_supervisor_with_checkpoints_does_not_end_itself(
    plain_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_module, "_LOOK_SECONDS", 0.1)
    idle = 2.0  # Longer than a busy machine takes to make the first kernel.
    backend = NativeBackend(idle=idle)
    environment = plain_environment(HOME=str(tmp_path), **{COOKIE: os.environ[COOKIE]})
    kernel = backend.kernel(LaunchSpec(plain_python, str(tmp_path), environment))
    try:
        await kernel.start(Deadline.after(PATIENCE))
        await ok(kernel, "x = 1")
        kept = await kernel.checkpoint()
        await kept.settled(Deadline.after(PATIENCE))
        await kernel.kill()
        await anyio.sleep(idle * 1.5)
        await kernel.restore(kept, Deadline.after(PATIENCE))
        assert await value(kernel, "x") == "1"
        kept.drop()
    finally:
        await kernel.shutdown()
        await backend.aclose()
