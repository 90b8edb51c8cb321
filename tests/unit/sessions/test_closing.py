"""Closing a session in which something goes on: it does not wait for long, and whoever is in it hears the truth."""

from pathlib import Path

import anyio
import pytest

from pisces.errors import KernelStartError
from pisces.kernels.base import Checkpoint, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend
from pisces.kernels.memory_script import Die, Step, WaitFor
from pisces.model.events import Stream
from tests.fakes.assignments import CRASH, keeping_runtime, kernel_in, session_of
from tests.fakes.drive import eventually
from tests.fakes.runtimes import begin, call, details, pool_of, scripted_runtime


async def test_a_crash_while_the_session_is_being_closed_is_told_to_the_call_that_had_it(tmp_path: Path) -> None:
    go = anyio.Event()
    script: dict[str, list[Step]] = {"x = 1": [], "die": [Stream("stdout", "begun\n"), WaitFor(go), Die(code=3)]}
    backend = MemoryBackend(script, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "x = 1")
        session = session_of(runtime)
        running = begin(group, runtime, "die")
        await running.watcher.prints("begun")
        group.start_soon(pool_of(runtime).close, session, "runtime")
        await eventually(lambda: session.closed)
        go.set()
        result = await running.finish()
        assert result.text.startswith("[State: restored] The kernel exited with code 3.")
        kernel = details(result).kernel
        assert kernel is not None
        assert kernel.state == "restored"


async def test_closing_a_session_does_not_wait_for_a_checkpoint_that_does_not_wake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restoring = anyio.Event()

    async def hang(self: CheckpointingMemoryKernel, checkpoint: Checkpoint, deadline: Deadline) -> Revival:
        restoring.set()
        await eventually(lambda: not checkpoint.usable)
        raise KernelStartError("The sleeping process has ended")

    async with keeping_runtime(tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        monkeypatch.setattr(type(kernel_in(session)), "restore", hang)
        running = begin(group, runtime, CRASH)
        await restoring.wait()
        await session.close(wait=0.05)
        assert (await running.finish()).text.startswith("[State: lost]")
