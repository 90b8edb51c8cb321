"""A kernel that keeps its state: checkpoints, the ways back to them, and branches, on every backend that has them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from pisces.errors import KernelError, KernelGone
from pisces.kernels.base import Checkpoint, Checkpointing, Inspecting, Kernel, LaunchSpec
from pisces.kernels.deadline import Deadline
from tests.contract import cells
from tests.fakes.drive import PATIENCE, ok, run, stop, value
from tests.fakes.drive import begin as begin_cell

pytestmark = pytest.mark.needs_checkpoints

Keep = Callable[[Checkpointing], Awaitable[Checkpoint]]


class KeepingKernel(Kernel, Checkpointing, Inspecting):
    """What this suite is about, for the type checker."""


@pytest.fixture
def keeping(fresh: Kernel) -> KeepingKernel:
    """A kernel of the case's own that can keep its state."""
    assert isinstance(fresh, Checkpointing), f"kernels of the backend {fresh.backend!r} cannot keep their state"
    assert isinstance(fresh, Inspecting)
    return fresh  # type: ignore[return-value]


@pytest.fixture
def keep() -> Iterator[Keep]:
    """Makes checkpoints, which are dropped with the end of the case."""
    made: list[Checkpoint] = []

    async def keep_state(kernel: Checkpointing) -> Checkpoint:
        made.append(await kernel.checkpoint())
        return made[-1]

    yield keep_state
    for checkpoint in made:
        checkpoint.drop()


@pytest.fixture
async def branches() -> AsyncIterator[list[Kernel]]:
    """Branches that a case has made: they are ended with it."""
    made: list[Kernel] = []
    yield made
    for kernel in made:
        await kernel.shutdown()


def soon() -> Deadline:
    return Deadline.after(PATIENCE)


@pytest.mark.parametrize("end", [cells.KILL_ITSELF, cells.SEGFAULT, cells.LEAVE_WITH_0, cells.LEAVE_WITH_3])
async def test_a_kernel_that_died_goes_on_from_its_checkpoint(keeping: KeepingKernel, keep: Keep, end: str) -> None:
    await ok(keeping, "x = 41")
    kept = await keep(keeping)
    await ok(keeping, "x = 'later'")
    await run(keeping, end)
    assert not await keeping.is_alive()
    revival = await keeping.restore(kept, soon())
    assert (revival.how, revival.missing) == ("exact", ())
    assert await keeping.is_alive()
    assert await value(keeping, "x + 1") == "42"


async def test_a_living_kernel_can_be_taken_back(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = [1]")
    kept = await keep(keeping)
    await ok(keeping, "x.append(2)\ny = 1")
    await keeping.restore(kept, soon())
    assert await value(keeping, "x") == "[1]"
    assert (await run(keeping, "y")).error.ename == "NameError"


async def test_a_running_cell_ends_when_its_kernel_is_taken_back(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = 1")
    kept = await keep(keeping)
    running = await begin_cell(keeping, cells.SLEEP)
    await running.prints("ready")
    await keeping.kill()
    assert (await running.finish()).done.status == "crashed"
    await keeping.restore(kept, soon())
    assert await value(keeping, "x") == "1"


async def test_a_checkpoint_can_be_gone_back_to_again_and_again(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = [1]")
    kept = await keep(keeping)
    for _ in range(3):
        await ok(keeping, "x.append(2)")
        await keeping.restore(kept, soon())
        assert kept.usable
        assert await value(keeping, "x") == "[1]"


async def test_of_several_checkpoints_each_has_its_own_state(keeping: KeepingKernel, keep: Keep) -> None:
    kept = []
    for number in range(4):
        await ok(keeping, f"x = {number}")
        kept.append(await keep(keeping))
    for number in (2, 0, 3, 1):
        await keeping.restore(kept[number], soon())
        assert await value(keeping, "x") == str(number)


async def test_a_kernel_that_came_back_can_be_kept_again(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = 1")
    first = await keep(keeping)
    await keeping.restore(first, soon())
    await ok(keeping, "x += 1")
    second = await keep(keeping)
    await run(keeping, cells.KILL_ITSELF)
    await keeping.restore(second, soon())
    assert await value(keeping, "x") == "2"
    await keeping.restore(first, soon())
    assert await value(keeping, "x") == "1"


async def test_a_kernel_that_has_run_nothing_can_be_kept(keeping: KeepingKernel, keep: Keep) -> None:
    kept = await keep(keeping)
    await ok(keeping, "x = 1")
    await keeping.restore(kept, soon())
    assert (await run(keeping, "x")).error.ename == "NameError"


async def test_a_checkpoint_is_there_for_whoever_goes_back_at_once(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = 1")
    for _ in range(10):
        kept = await keep(keeping)
        await keeping.restore(kept, soon())
        assert await value(keeping, "x") == "1"


@pytest.mark.needs_process
async def test_the_cell_that_follows_a_checkpoint_at_once_is_not_in_it(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = 1")
    kept = await keep(keeping)
    await run(keeping, "x = 2\n" + cells.LEAVE_WITH_3)
    await keeping.restore(kept, soon())
    assert await value(keeping, "x") == "1"


async def test_a_checkpoint_that_was_dropped_cannot_be_gone_back_to(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = 1")
    kept, other = await keep(keeping), await keep(keeping)
    assert kept.usable
    kept.drop()
    kept.drop()
    assert not kept.usable
    await ok(keeping, "x = 2")
    with pytest.raises(KernelError):
        await keeping.restore(kept, soon())
    assert await value(keeping, "x") == "2", "the kernel is as it was"
    await keeping.restore(other, soon())
    assert await value(keeping, "x") == "1"


async def test_a_dead_kernel_whose_checkpoint_cannot_be_woken_can_go_on_from_another(
    keeping: KeepingKernel, keep: Keep
) -> None:
    await ok(keeping, "x = 1")
    kept, other = await keep(keeping), await keep(keeping)
    kept.drop()
    await run(keeping, cells.KILL_ITSELF)
    with pytest.raises(KernelError):
        await keeping.restore(kept, soon())
    assert not await keeping.is_alive()
    await keeping.restore(other, soon())
    assert await value(keeping, "x") == "1"


async def test_what_a_checkpoint_took_is_told(keeping: KeepingKernel, keep: Keep) -> None:
    kept = await keep(keeping)
    await ok(keeping, "x = 1")
    assert kept.blocked_ms is not None
    assert kept.blocked_ms >= 0


async def test_a_dead_kernel_cannot_be_kept(keeping: KeepingKernel) -> None:
    await run(keeping, cells.KILL_ITSELF)
    with pytest.raises(KernelGone):
        await keeping.checkpoint()


async def test_a_cell_of_a_kernel_that_came_back_can_be_interrupted(keeping: KeepingKernel, keep: Keep) -> None:
    kept = await keep(keeping)
    await keeping.restore(kept, soon())
    running = await begin_cell(keeping, cells.SLEEP)
    await running.prints("ready")
    assert (await stop(keeping, running)).done.status == "interrupted"
    assert await value(keeping, "1 + 1") == "2"


async def test_a_branch_knows_what_its_origin_knew_and_neither_sees_the_other(
    keeping: KeepingKernel, keep: Keep, spec: LaunchSpec, branches: list[Kernel]
) -> None:
    await ok(keeping, "x = [1]")
    kept = await keep(keeping)
    await ok(keeping, "x.append('origin')")
    for number in range(2):
        branch, revival = await keeping.branch(kept, spec, soon())
        branches.append(branch)
        assert (revival.how, revival.missing) == ("exact", ())
        await ok(branch, f"x.append({number})")
    assert await value(keeping, "x") == "[1, 'origin']"
    assert [await value(branch, "x") for branch in branches] == ["[1, 0]", "[1, 1]"]


async def test_a_branch_outlives_its_origin_and_the_checkpoint(
    keeping: KeepingKernel, keep: Keep, spec: LaunchSpec, branches: list[Kernel]
) -> None:
    await ok(keeping, "x = 1")
    kept = await keep(keeping)
    branch, _ = await keeping.branch(kept, spec, soon())
    branches.append(branch)
    kept.drop()
    await keeping.kill()
    assert await value(branch, "x") == "1"


async def test_a_branch_can_be_interrupted_and_kept_itself(
    keeping: KeepingKernel, keep: Keep, spec: LaunchSpec, branches: list[Kernel]
) -> None:
    branch, _ = await keeping.branch(await keep(keeping), spec, soon())
    branches.append(branch)
    running = await begin_cell(branch, cells.SLEEP)
    await running.prints("ready")
    assert (await stop(branch, running)).done.status == "interrupted"
    assert isinstance(branch, Checkpointing)
    await ok(branch, "x = 1")
    kept = await keep(branch)
    await run(branch, cells.KILL_ITSELF)
    await branch.restore(kept, soon())
    assert await value(branch, "x") == "1"


async def test_a_kernel_that_came_back_lists_what_it_knows(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = [1, 2]")
    kept = await keep(keeping)
    await ok(keeping, "y = 1")
    await keeping.restore(kept, soon())
    listed = await keeping.variables(soon())
    assert [(variable.name, variable.type, variable.size) for variable in listed if variable.name in "xy"] == [
        ("x", "list", "2")
    ]


async def test_the_outlook_of_a_kernel_names_no_obstacle(keeping: KeepingKernel, keep: Keep) -> None:
    await ok(keeping, "x = 1")
    assert keeping.outlook().obstacle == ""
    await keep(keeping)
    await ok(keeping, "x = 2")
    assert keeping.outlook().obstacle == ""
