"""When file descriptors run out, as little as possible is closed, and the call that needed them names what was."""

import errno
import os
import signal
from pathlib import Path

import pytest

from pisces.errors import KernelStartError
from pisces.kernels.base import Checkpoint, LaunchSpec, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend, MemoryKernel
from pisces.model.events import ProcessExit
from pisces.runtime import Runtime
from tests.fakes.runtimes import call, details, pool_of, scripted_runtime


class WakingKernel(CheckpointingMemoryKernel):
    """Needs a descriptor to come back, as to start."""

    async def restore(self, checkpoint: Checkpoint, deadline: Deadline) -> Revival:
        await self.kill()
        await self._on_start()
        return await super().restore(checkpoint, deadline)


class FewDescriptors(MemoryBackend):
    """Has so many descriptors. Each living kernel takes one, and so does each thing that is kept open for later."""

    def __init__(self, count: int, *, kept_open: int = 0) -> None:
        super().__init__({"x": []}, on_start=self._open, revival=Revival("exact"))
        self.count = count
        self.kept_open = kept_open

    def _make(self, spec: LaunchSpec) -> MemoryKernel:
        return WakingKernel(spec, self._handler, self._on_start, revival=Revival("exact"))

    async def _open(self) -> None:
        if self.kept_open + sum([await kernel.is_alive() for kernel in self.kernels]) >= self.count:
            refusal = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            raise KernelStartError("Cannot open the channels of a kernel") from refusal

    async def close_idle(self) -> None:
        self.kept_open = 0


async def begin_unheld(runtime: Runtime, *names: str) -> None:
    """Start sessions whose owners are not connected, each named as its owner."""
    for name in names:
        await call(runtime, "x", session=name, owner=name)
        pool_of(runtime).disconnect(name)


def with_kernel(runtime: Runtime) -> list[str]:
    return [session.key.id for session in pool_of(runtime).sessions if session.kernel]


async def test_no_session_ends_where_it_helps_to_close_what_holds_no_state(tmp_path: Path) -> None:
    backend = FewDescriptors(3, kept_open=1)
    async with scripted_runtime(backend, tmp_path) as runtime:
        await begin_unheld(runtime, "one", "two")
        new = await call(runtime, "x", session="new")
        assert with_kernel(runtime) == ["one", "two", "new"]
    assert details(new).outcome == "ok"
    assert "was ended" not in new.text


@pytest.mark.parametrize(("missing", "ended"), [(1, ["two"]), (2, ["two", "three"])])
async def test_unused_sessions_end_one_by_one_until_there_is_room_and_are_named(
    tmp_path: Path, missing: int, ended: list[str]
) -> None:
    backend = FewDescriptors(5)
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x", session="held", owner="held")
        await begin_unheld(runtime, "one", "two", "three", "four", "one")
        backend.count = 6 - missing
        new = await call(runtime, "x", session="new")
        left = with_kernel(runtime)
    assert details(new).outcome == "ok"
    assert [name for name in ("held", "one", "two", "three", "four") if name not in left] == ended
    named = [line for line in new.text.splitlines() if "was ended" in line]
    assert named == [
        f"Session {name!r} was ended to make room for this one: no more files could be opened (`ulimit -n`)."
        for name in ended
    ]


async def test_a_kernel_that_comes_back_ends_no_more_sessions_than_it_needs_and_names_them(tmp_path: Path) -> None:
    backend = FewDescriptors(3)
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x", session="held", owner="held")
        await begin_unheld(runtime, "one", "two")
        backend.count = 2
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        back = await call(runtime, "x", session="held", owner="held")
        assert with_kernel(runtime) == ["held", "two"]
    assert "[State: restored]" in back.text
    assert "Session 'one' was ended to make room for this one" in back.text
