"""Start and end: bounded, cancellable, repeatable, and nothing is lost on the way."""

from collections.abc import AsyncIterator, Callable

import anyio
import psutil
import pytest

from pisces.errors import DeadlineExceeded, KernelError, KernelGone
from pisces.kernels.base import Backend, ExecuteRequest, Kernel, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.model.events import AnyEvent, Done, Stream
from tests.contract import cells
from tests.fakes.drive import PATIENCE, Ran, begin, ok, stop, value


@pytest.fixture
async def cold(backend: Backend, make_backend: Callable[[], Backend]) -> AsyncIterator[Backend]:
    """A backend that has nothing running yet, but for what it shares with the others."""
    made = make_backend()
    yield made
    await made.aclose()


def children() -> set[int]:
    """Our own, of which the backend that the cases share has one; below it, its template makes copies at any time."""
    return {child.pid for child in psutil.Process().children()}


async def test_a_kernel_that_was_not_started_runs_nothing(backend: Backend, spec: LaunchSpec) -> None:
    idle = backend.kernel(spec)
    assert not await idle.is_alive()
    with pytest.raises(KernelGone):
        await idle.execute(ExecuteRequest("1"))
    await idle.interrupt()
    await idle.kill()
    await idle.shutdown()


async def test_shutdown_can_be_called_again(backend: Backend, spec: LaunchSpec) -> None:
    kernel = backend.kernel(spec)
    await kernel.start(Deadline.after(PATIENCE))
    await kernel.shutdown()
    await kernel.shutdown()
    await kernel.kill()
    assert not await kernel.is_alive()


async def test_a_start_that_has_no_time_left_leaves_nothing(cold: Backend, spec: LaunchSpec) -> None:
    before = children()
    kernel = cold.kernel(spec)
    with pytest.raises(DeadlineExceeded):
        await kernel.start(Deadline.after(0))
    assert not await kernel.is_alive()
    assert children() - before == set()


@pytest.mark.needs_process
@pytest.mark.parametrize("after", [0.0, 0.01, 0.03, 0.06])
async def test_a_start_that_is_cancelled_leaves_nothing_but_the_supervisor(
    cold: Backend, spec: LaunchSpec, after: float
) -> None:
    before = children()
    kernel = cold.kernel(spec)
    with anyio.move_on_after(after):
        await kernel.start(Deadline.after(PATIENCE))
    await kernel.kill()
    assert not await kernel.is_alive()
    await cold.aclose()
    assert children() - before == set()


@pytest.mark.needs_process
@pytest.mark.needs_own_interpreter
async def test_an_interpreter_that_is_missing_is_named(cold: Backend, spec: LaunchSpec) -> None:
    before = children()
    kernel = cold.kernel(LaunchSpec("/missing/python", spec.cwd, spec.env))
    with pytest.raises(KernelError, match="/missing/python"):
        await kernel.start(Deadline.after(PATIENCE))
    assert children() - before == set()


@pytest.mark.needs_process
async def test_a_start_folder_that_has_gone_does_not_keep_a_kernel_from_starting(
    cold: Backend, spec: LaunchSpec
) -> None:
    kernel = cold.kernel(LaunchSpec(spec.interpreter, "/missing/folder", spec.env))
    await kernel.start(Deadline.after(PATIENCE))
    assert await value(kernel, "1 + 1") == "2"
    await kernel.shutdown()


async def test_a_cancelled_wait_loses_no_event(kernel: Kernel) -> None:
    running = await begin(kernel, "for i in range(200): print(i)\n'end'")
    events: list[AnyEvent] = []
    with anyio.fail_after(PATIENCE):
        while not (events and isinstance(events[-1], Done)):
            with anyio.move_on_after(0.0005):
                events += await running.execution.receive()
    assert Ran(events).stdout == "".join(f"{i}\n" for i in range(200))
    assert Ran(events).result == "'end'"


async def test_a_cancelled_wait_does_not_touch_the_cell(kernel: Kernel) -> None:
    running = await begin(kernel, cells.SLEEP)
    await running.prints("ready")
    with anyio.move_on_after(0.01) as scope:
        await running.execution.receive()
    assert scope.cancelled_caught
    assert not any(isinstance(event, Done) for event in running.events)
    assert (await stop(kernel, running)).done.status == "interrupted"


async def test_kernels_of_one_backend_do_not_share_their_state(kernel: Kernel, fresh: Kernel) -> None:
    await ok(kernel, "whose = 'shared'")
    await ok(fresh, "whose = 'fresh'")
    assert await value(kernel, "whose") == "'shared'"


async def test_two_kernels_run_at_the_same_time(kernel: Kernel, fresh: Kernel) -> None:
    waiting = await begin(kernel, cells.SLEEP)
    await waiting.prints("ready")
    assert await value(fresh, "1 + 1") == "2"
    await stop(kernel, waiting)


@pytest.mark.needs_process
async def test_functions_registered_for_the_end_run_at_shutdown(
    backend: Backend, spec: LaunchSpec, tmp_path_factory: pytest.TempPathFactory
) -> None:
    told = tmp_path_factory.mktemp("end") / "told"
    kernel = backend.kernel(spec)
    await kernel.start(Deadline.after(PATIENCE))
    await ok(kernel, f"import atexit\natexit.register(lambda: open({str(told)!r}, 'w', encoding='utf-8').write('bye'))")
    await kernel.shutdown()
    assert told.read_text(encoding="utf-8") == "bye"


async def test_text_arrives_while_the_cell_runs(kernel: Kernel) -> None:
    running = await begin(kernel, cells.SLEEP)
    ran = await running.until(lambda ran: bool(ran.of(Stream)))
    assert ran.stdout == "ready\n"
    await stop(kernel, running)
