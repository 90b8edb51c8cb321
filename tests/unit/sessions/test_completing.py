"""What could stand at the cursor, asked of a session: nothing is started, brought back or waited for."""

import time
from pathlib import Path

import anyio

from pisces.kernels.memory import MemoryBackend
from pisces.model.completion import Completion
from pisces.model.events import ProcessExit
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import begin, call, pool_of, scripted_runtime


async def test_the_kernel_of_the_session_is_asked(tmp_path: Path) -> None:
    async with scripted_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        await call(runtime, "zebra = 1")
        assert await runtime.complete("1 + ze", 6) == Completion(("zebra",), 4, 6)
        assert await runtime.complete("1 + ze", 6, session="another") == Completion()


async def test_nothing_is_started_for_it(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with scripted_runtime(backend, tmp_path) as runtime:
        assert await runtime.complete("ze", 2) == Completion()
        assert (backend.kernels, pool_of(runtime).sessions) == ([], [])


async def test_a_dead_kernel_is_not_brought_back_by_it(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "zebra = 1")
        backend.kernels[0].die(ProcessExit(signal=9))
        assert await runtime.complete("ze", 2) == Completion()
        assert len(backend.kernels) == 1
        told = await call(runtime, "zebra")
        assert "[State: lost]" in told.text


async def test_while_a_cell_runs_it_is_answered_at_once_and_the_cell_goes_on(tmp_path: Path) -> None:
    async with (
        scripted_runtime(MemoryBackend(remembering), tmp_path) as runtime,
        anyio.create_task_group() as group,
    ):
        await call(runtime, "zebra = 1")
        abort = anyio.Event()
        running = begin(group, runtime, "wait", abort=abort)
        await running.watcher.prints("waiting")
        with anyio.fail_after(1):
            assert (await runtime.complete("ze", 2)).matches in ((), ("zebra",))
        abort.set()
        await running.finish()
        assert (await runtime.complete("ze", 2)).matches == ("zebra",)


async def test_it_is_no_use_of_the_session(tmp_path: Path) -> None:
    async with scripted_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        await call(runtime, "zebra = 1")
        (session,) = pool_of(runtime).sessions
        session.last_used = used = time.monotonic() - 100
        await runtime.complete("ze", 2)
        assert session.last_used == used
        assert not session.busy
