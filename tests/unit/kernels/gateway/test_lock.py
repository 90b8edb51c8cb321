"""Waiting for the lock of a gateway, and losing it."""

import os
import threading
import time
from pathlib import Path

import anyio
import pytest

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway import lock, lock_file
from pisces.kernels.gateway.lock import HeldLock, hold
from pisces.kernels.gateway.lock_file import STALE_SECONDS, LockFile, LockLost
from tests.fakes.drive import eventually

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gateway.lock"


async def test_the_work_is_done_and_its_result_and_its_error_come_out(path: Path) -> None:
    async def work(_held: HeldLock) -> int:
        return 42

    async def fail(_held: HeldLock) -> int:
        raise ValueError("no")

    assert await hold(path, work, Deadline.after(10)) == 42
    with pytest.raises(ValueError, match="no"):
        await hold(path, fail, Deadline.after(10))
    assert LockFile(path).try_acquire()


async def test_two_works_never_overlap(path: Path) -> None:
    inside = 0

    async def work(_held: HeldLock) -> None:
        nonlocal inside
        inside += 1
        assert inside == 1
        await anyio.sleep(0.01)
        inside -= 1

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(hold, path, work, Deadline.after(30))


async def test_many_threads_that_find_a_hung_holder_at_once_get_the_lock_one_after_the_other(path: Path) -> None:
    hung = LockFile(path)
    assert hung.try_acquire(time.monotonic() - STALE_SECONDS - 10)
    inside: list[int] = []
    overlaps: list[int] = []

    def take(number: int) -> None:
        view = LockFile(path)
        while not view.try_acquire():
            os.sched_yield()
        inside.append(number)
        if len(inside) > 1:
            overlaps.append(number)
        inside.remove(number)
        view.release()

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await anyio.to_thread.run_sync(thread.join, 30)
    assert not any(thread.is_alive() for thread in threads)
    assert overlaps == []
    assert not hung.holds()
    hung.release()


async def test_nobody_gets_the_lock_while_another_takes_it_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hung, first, second = LockFile(path), LockFile(path), LockFile(path)
    assert hung.try_acquire(time.monotonic() - STALE_SECONDS - 10)
    read = lock_file._read
    got: list[bool] = []

    def meanwhile(descriptor: int) -> lock_file.Beat | None:
        said = read(descriptor)
        if not got:
            got.append(True)
            got.append(second.try_acquire())
        return said

    monkeypatch.setattr(lock_file, "_read", meanwhile)
    assert first.try_acquire()
    assert got == [True, False]
    assert [view.holds() for view in (hung, first, second)] == [False, True, False]


async def test_a_wait_ends_with_the_deadline_and_names_the_holder(path: Path) -> None:
    holder = LockFile(path)
    assert holder.try_acquire()
    with pytest.raises(DeadlineExceeded, match=f"by process {os.getpid()}"):
        await hold(path, _never, Deadline.after(0.2))
    holder.release()


async def test_a_wait_ends_with_its_own_cap(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "WAIT_CAP", 0.2)
    holder = LockFile(path)
    assert holder.try_acquire()
    with pytest.raises(KernelStartError, match=r"not free within 0\.2 seconds"):
        await hold(path, _never, Deadline.never())
    holder.release()


async def test_a_wait_can_be_cancelled_and_leaves_nothing(path: Path, no_descriptor_is_left: None) -> None:
    holder = LockFile(path)
    assert holder.try_acquire()
    with anyio.move_on_after(0.2) as scope:
        await hold(path, _never, Deadline.never())
    assert scope.cancelled_caught
    assert holder.holds()
    holder.release()


async def test_work_that_is_cancelled_lets_go_of_the_lock(path: Path) -> None:
    begun = anyio.Event()

    async def work(_held: HeldLock) -> None:
        begun.set()
        await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        group.start_soon(hold, path, work, Deadline.never())
        await begun.wait()
        group.cancel_scope.cancel()
    assert LockFile(path).try_acquire()


async def test_a_holder_beats_and_so_is_never_taken_for_hung(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.01)

    async def work(_held: HeldLock) -> None:
        first = LockFile(path).holder()
        assert first is not None
        await eventually(lambda: (LockFile(path).holder() or first).beat > first.beat)

    await hold(path, work, Deadline.after(30))


async def test_work_ends_when_the_lock_was_taken_from_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.01)
    other = LockFile(path)

    async def work(_held: HeldLock) -> None:
        assert other.try_acquire(time.monotonic() + STALE_SECONDS + 1)
        await anyio.sleep_forever()

    with anyio.fail_after(30), pytest.raises(KernelStartError, match="another process has taken over"):
        await hold(path, work, Deadline.never())
    assert other.holds()


async def test_nothing_is_committed_once_the_lock_was_taken(path: Path) -> None:
    other = LockFile(path)
    committed: list[str] = []

    async def work(held: HeldLock) -> None:
        await held.commit(lambda: committed.append("before"))
        assert other.try_acquire(time.monotonic() + STALE_SECONDS + 1)
        with pytest.raises(LockLost):
            await held.commit(lambda: committed.append("after"))

    await hold(path, work, Deadline.never())
    assert committed == ["before"]


async def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    with pytest.raises(KernelStartError, match="lock of the shared gateway cannot be used"):
        await hold(tmp_path / "missing" / "gateway.lock", _never, Deadline.after(10))


async def _never(_held: HeldLock) -> None:
    raise AssertionError("the lock was not free")
