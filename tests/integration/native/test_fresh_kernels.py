"""What a kernel from the template begins with, and what ends with the template, its supervisor or the host."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from pisces.kernels.base import LaunchSpec
from pisces.kernels.native.backend import NativeBackend
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import eventually, ok, plain_environment, value
from tests.fakes.sleepers import checkpoints_below, supervisor_of, templates_below
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, pid_of, soon
from tests.integration.native.processes import alive
from tests.leftovers import COOKIE
from tests.source_tree import ROOT

HOST = """
import os, sys, anyio
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.backend import NativeBackend

async def main(interpreter, folder):
    env = {"PATH": "/usr/bin:/bin", "HOME": folder, "@COOKIE@": os.environ["@COOKIE@"]}
    kernel = NativeBackend().kernel(LaunchSpec(interpreter, folder, env))
    await kernel.start(Deadline.after(30))
    kept = []
    for number in range(5):
        kept.append(await kernel.checkpoint())
        await kept[-1].settled(Deadline.after(30))
    print("kept", flush=True)
    await anyio.sleep(300)

anyio.run(main, *sys.argv[1:])
""".replace("@COOKIE@", COOKIE)


def start_host(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", HOST, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8")


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


async def test_the_first_cell_is_the_first(kernel: NativeKernel) -> None:
    assert (await ok(kernel, "1")).done.execution_count == 1


async def test_nothing_of_the_warm_up_is_left(kernel: NativeKernel) -> None:
    assert await kernel.variables(soon()) == ()
    of_the_shell = "In", "Out", "get_ipython", "exit", "quit", "open"
    names = f"name[:1] != '_' and name not in {of_the_shell} and not hasattr(value, 'category')"  # Those are helpers.
    assert await value(kernel, f"sorted(name for name, value in globals().items() if {names})") == "[]"
    assert await value(kernel, "__import__('asyncio')._get_running_loop() is None") == "True"


async def test_nothing_of_the_warm_up_is_in_the_history(start: StartKernel, ipython_python: str) -> None:
    kernel = await start(ipython_python)
    assert await value(kernel, "In, Out") == "(['', 'In, Out'], {})"
    assert await value(kernel, "len(list(get_ipython().history_manager.get_range())) <= 2") == "True"


async def start_while_these_die(start: StartKernel, pids: set[int]) -> NativeKernel:
    """Start a kernel; these processes, which it is asked of, end without an answer."""
    started: list[NativeKernel] = []

    async def start_another() -> None:
        started.append(await start())

    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    async with anyio.create_task_group() as group:
        group.start_soon(start_another)
        for _ in range(20):
            await checkpoint()  # It gets to where it waits for an answer.
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    return started[0]


async def test_a_template_that_dies_while_it_is_asked_for_a_kernel_is_replaced(start: StartKernel) -> None:
    first = await start()
    await ok(first, "x = 1")
    supervisor = supervisor_of(await pid_of(first))
    await eventually(lambda: len(templates_below(supervisor)) == 2)
    old = templates_below(supervisor)
    another = await start_while_these_die(start, old)
    assert supervisor_of(await pid_of(another)) == supervisor
    assert not old & templates_below(supervisor)
    assert await value(first, "x") == "1"


async def test_a_supervisor_that_ends_while_it_is_asked_for_a_kernel_is_replaced(start: StartKernel) -> None:
    first = await start()
    supervisor = supervisor_of(await pid_of(first))
    await eventually(lambda: len(templates_below(supervisor)) == 2)
    another = await start_while_these_die(start, {*templates_below(supervisor), supervisor})
    assert supervisor_of(await pid_of(another)) != supervisor
    assert await value(another, "1 + 1") == "2"


async def test_fresh_kernels_draw_different_numbers(start: StartKernel, either_python: str) -> None:
    kernels = [await start(either_python) for _ in range(3)]
    drawn = [await value(kernel, "import random; random.random()") for kernel in kernels]
    assert len(set(drawn)) == 3


async def test_a_start_that_was_given_up_does_not_confuse_the_next(
    start: StartKernel, backend: NativeBackend, plain_python: str, tmp_path: Path
) -> None:
    first = await start()
    environment = plain_environment(**{"HOME": str(tmp_path), COOKIE: os.environ[COOKIE]})
    spec = LaunchSpec(plain_python, str(tmp_path), environment)
    for moments in range(10):
        given_up = backend.kernel(spec)
        async with anyio.create_task_group() as group:
            group.start_soon(given_up.start, soon())
            for _ in range(moments):
                await checkpoint()
            group.cancel_scope.cancel()
        await given_up.shutdown()  # On a busy machine ten moments can be enough for a start.
        again = await start()
        assert supervisor_of(await pid_of(again)) == supervisor_of(await pid_of(first))
        assert await value(again, "1 + 1") == "2"


async def test_a_kernel_can_be_kept_and_come_back_without_its_template(start: StartKernel, keep: Keep) -> None:
    kernel = await start()
    await ok(kernel, "x = 1")
    kept = await keep(kernel)
    for template in templates_below(supervisor_of(await pid_of(kernel))):
        os.kill(template, signal.SIGKILL)
    await kernel.restore(kept, soon())
    assert await value(kernel, "x") == "1"


async def test_when_the_supervisor_is_killed_checkpoints_go_too_and_cannot_be_gone_back_to(
    start: StartKernel, keep: Keep
) -> None:
    kernel = await start()
    pid = await pid_of(kernel)
    supervisor = supervisor_of(pid)
    kept = [await keep(kernel) for _ in range(3)]
    await ok(kernel, "pass")
    await eventually(lambda: len(checkpoints_below(supervisor)) == 3)
    pids = [pid, supervisor, *checkpoints_below(supervisor), *templates_below(supervisor)]
    os.kill(supervisor, signal.SIGKILL)
    await eventually(lambda: alive(pids) == [])
    await eventually(lambda: not any(checkpoint.usable for checkpoint in kept))
    assert not await kernel.is_alive()


async def test_when_the_host_is_killed_checkpoints_and_template_go(plain_python: str, tmp_path: Path) -> None:
    with start_host(plain_python, str(tmp_path)) as host:
        assert host.stdout is not None
        assert await anyio.to_thread.run_sync(host.stdout.readline) == "kept\n"
        (supervisor,) = (int(pid) for pid in _children(host.pid))
        try:
            await eventually(lambda: len(checkpoints_below(supervisor)) == 5)
            asleep = checkpoints_below(supervisor)
            pids = [supervisor, *asleep, *(int(pid) for pid in _children(supervisor))]
        finally:
            host.kill()
    await eventually(lambda: alive(pids) == [], within=10)


def _children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


async def test_a_supervisor_without_kernels_ends_itself(plain_python: str, tmp_path: Path) -> None:
    backend = NativeBackend(idle=2)  # Longer than a template needs to come up on a busy machine.
    environment = plain_environment(**{"HOME": str(tmp_path), COOKIE: os.environ[COOKIE]})
    spec = LaunchSpec(plain_python, str(tmp_path), environment)
    kernel = backend.kernel(spec)
    await kernel.start(soon())
    supervisor = supervisor_of(await pid_of(kernel))
    pids = [supervisor, *templates_below(supervisor)]
    await kernel.shutdown()
    await eventually(lambda: alive(pids) == [])
    again = backend.kernel(spec)
    await again.start(soon())
    assert await value(again, "1 + 1") == "2"
    await again.shutdown()
    await backend.aclose()
