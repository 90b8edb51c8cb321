"""Going back when something is in the way: what was kept stays kept, and whoever holds the session is told."""

from pathlib import Path

import pytest

from pisces.errors import CheckpointError, DeadlineExceeded, KernelStartError
from pisces.kernels.base import Checkpoint, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend
from tests.fakes.assignments import assignments, keeping_runtime, kernel_in, session_of, shown, soon
from tests.fakes.runtimes import call, details


async def test_a_named_state_that_was_not_back_in_time_can_be_gone_to_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_slow(self: CheckpointingMemoryKernel, checkpoint: Checkpoint, deadline: Deadline) -> Revival:
        monkeypatch.undo()
        raise DeadlineExceeded("The checkpoint did not wake within 1 seconds")

    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        await session.checkpoint("one", soon())
        await call(runtime, "a = 2")
        monkeypatch.setattr(type(kernel_in(session)), "restore", too_slow)
        with pytest.raises(CheckpointError, match="did not wake within 1 seconds"):
            await session.restore_to("one", soon())
        assert await shown(runtime, "a") == "2"
        await session.restore_to("one", soon())
        assert await shown(runtime, "a") == "1"


async def test_undo_to_the_beginning_is_done_also_while_no_kernel_can_be_started(tmp_path: Path) -> None:
    trouble: list[KernelStartError] = []

    async def on_start() -> None:
        for error in trouble:
            raise error

    backend = MemoryBackend(assignments, on_start=on_start, revival=Revival("exact"))
    async with keeping_runtime(tmp_path, backend) as runtime:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        session.owners["another"] = True
        trouble.append(KernelStartError("no more processes"))
        went = await session.undo(soon(), owner="runtime")
        assert (went.position, went.fresh) == (0, True)
        news = session.take_news("another")
        assert news is not None
        assert "taken back by 1 cell, to a fresh kernel" in news.text
        trouble.clear()
        after = details(await call(runtime, "b = 2"))
        assert after.kernel is not None
        assert after.kernel.state == "kept"
