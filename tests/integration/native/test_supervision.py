"""The end of a kernel, of its supervisor or of the host is the end of everything below."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.errors import KernelGone
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.backend import NativeBackend
from pisces.kernels.native.kernel import NativeKernel
from tests.contract import cells
from tests.fakes.drive import PATIENCE, begin, eventually, ok, plain_environment, run, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.processes import FAMILY, alive, pids_in
from tests.leftovers import COOKIE
from tests.source_tree import ROOT

HOST = """
import os, sys, anyio
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
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


async def test_a_stopped_kernel_can_be_killed(kernel: NativeKernel) -> None:
    pid = int(await value(kernel, "import os; os.getpid()"))
    running = await begin(kernel, cells.SLEEP)
    await running.prints("ready")
    os.kill(pid, signal.SIGSTOP)
    await kernel.interrupt()
    with anyio.fail_after(PATIENCE):
        await kernel.kill()
    assert (await running.finish()).done.status == "crashed"
    assert alive([pid]) == []


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
        counts.append((psutil.Process().num_fds(), supervisor.num_fds()))
    assert counts[-1][0] <= counts[0][0]  # What an earlier test had left may be collected meanwhile.
    assert counts[-1][1] == counts[0][1]


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
