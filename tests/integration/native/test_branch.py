"""Branches are kernels of their own: the same at the beginning, and nobody's sibling afterwards."""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from pisces.kernels.base import LaunchSpec
from pisces.kernels.native.kernel import NativeKernel
from tests.contract import cells
from tests.fakes.drive import begin, eventually, ok, plain_environment, stop, value
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, pid_of, soon
from tests.integration.native.processes import FAMILY, alive, pids_in

Branch = Callable[..., Awaitable[NativeKernel]]


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


@pytest.fixture
async def branch(kernel: NativeKernel, keep: Keep, tmp_path: Path) -> AsyncIterator[Branch]:
    """Makes branches of the kernel as it is now, and ends them with the test."""
    made: list[NativeKernel] = []

    async def make(**injected: str) -> NativeKernel:
        spec = LaunchSpec(kernel.interpreter, str(tmp_path), plain_environment(), injected=injected)
        twin, _ = await kernel.branch(await keep(kernel), spec, soon())
        made.append(twin)
        return twin

    yield make
    for twin in made:
        await twin.shutdown()


async def test_a_branch_draws_the_numbers_that_its_origin_draws(kernel: NativeKernel, branch: Branch) -> None:
    await ok(kernel, "import random\nrandom.random()")
    twin = await branch()
    expected = await value(kernel, "random.random()")
    assert await value(twin, "random.random()") == expected


async def test_a_branch_survives_the_death_of_its_origin_and_of_its_sibling(
    kernel: NativeKernel, branch: Branch
) -> None:
    await ok(kernel, "x = 1")
    first, second = await branch(), await branch()
    for dying in (kernel, first):
        pid = await pid_of(dying)
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda pid=pid: alive([pid]) == [])  # type: ignore[misc]
    assert await value(second, "x") == "1"


async def test_the_end_of_a_branch_is_the_end_of_its_children_only(kernel: NativeKernel, branch: Branch) -> None:
    sleeper = "import subprocess\nsubprocess.Popen(['sleep', '300'], start_new_session=True).pid"
    twin = await branch()
    own, others = int(await value(kernel, sleeper)), int(await value(twin, sleeper))
    await twin.kill()
    assert alive([own, others]) == [own]
    again = await branch()
    await kernel.kill()
    assert alive([own]) == []
    assert await value(again, "1 + 1") == "2"


async def test_a_daemon_of_a_branch_outlives_the_origin(kernel: NativeKernel, branch: Branch) -> None:
    twin = await branch()
    pids = pids_in((await ok(twin, FAMILY)).stdout)
    await kernel.kill()
    assert alive(pids) == pids


async def test_a_branch_never_has_the_limit_by_which_the_origins_daemons_are_known(
    kernel: NativeKernel, branch: Branch
) -> None:
    """User code can forbid limits higher than that of the origin, which is a random number, as that of a branch is."""
    limits = "resource.prlimit(0, 10)[0]"
    await ok(kernel, f"import resource\nown = {limits}\nresource.prlimit(0, 10, (own, own))")
    for _ in range(8):
        twin = await branch()
        assert await value(twin, f"{limits} == own") == "False"
        await twin.kill()


async def test_a_branch_gets_the_variables_of_its_own_session(kernel: NativeKernel, branch: Branch) -> None:
    await ok(kernel, "import os\nos.environ['OF_THE_USER'] = 'same'")
    twin = await branch(PI_SESSION_FILE="/journal/of/the/branch")
    assert await value(twin, "os.environ['PI_SESSION_FILE'], os.environ['OF_THE_USER']") == (
        "('/journal/of/the/branch', 'same')"
    )
    assert await value(kernel, "'PI_SESSION_FILE' in os.environ") == "False"


async def test_branches_run_at_the_same_time(kernel: NativeKernel, branch: Branch) -> None:
    """Each waits for all the others: one after the other, none would ever go on."""
    meeting = "import os, time\nopen(f'here {number}', 'w', encoding='utf-8').close()\nend = time.monotonic() + 20\n"
    meeting += (
        "while sum(name.startswith('here') for name in os.listdir()) < 4 and time.monotonic() < end: time.sleep(0.01)\n"
    )
    await ok(kernel, "met = True")
    branches = [await branch() for _ in range(4)]

    async def meet(twin: NativeKernel, number: int) -> None:
        await ok(twin, f"number = {number}")
        assert await value(twin, meeting + "time.monotonic() < end") == "True"

    async with anyio.create_task_group() as group:
        for number, twin in enumerate(branches):
            group.start_soon(meet, twin, number)
    assert [await value(twin, "number") for twin in branches] == ["0", "1", "2", "3"]


async def test_an_interrupt_reaches_the_branch_that_it_was_meant_for(kernel: NativeKernel, branch: Branch) -> None:
    twin = await branch()
    running, other = await begin(twin, cells.SLEEP), await begin(kernel, cells.CATCH_AND_GO_ON)
    await running.prints("ready")
    await other.prints("ready")
    assert (await stop(twin, running)).done.status == "interrupted"
    assert "caught" not in (await other.until(lambda ran: True)).stdout
    assert "caught" in (await stop(kernel, other)).stdout


async def test_a_branch_writes_to_its_own_host_only(kernel: NativeKernel, branch: Branch) -> None:
    await ok(kernel, "import os")
    twin = await branch()
    said = await ok(twin, "print('branch'); _ = os.system('echo child of the branch')")
    assert said.stdout == "branch\nchild of the branch\n"
    assert (await ok(kernel, "print('origin')")).stdout == "origin\n"
