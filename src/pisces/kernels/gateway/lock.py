"""Waiting for the lock of a gateway's folder, and holding it: at most one process starts or ends that gateway."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import anyio

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.lock_file import Beat, LockFile, LockLost

WAIT_CAP: Final = 35.0
TRY_SECONDS: Final = 0.05
BEAT_SECONDS: Final = 5.0
_COMMIT_CAP: Final = 5.0

_T = TypeVar("_T")


class HeldLock:
    """What the work that is done under the lock may ask of it."""

    def __init__(self, file: LockFile) -> None:
        self._file = file

    async def commit(self, action: Callable[[], None]) -> None:
        """Do something short that only the holder may do, if we still are the holder. Raises `LockLost` if not."""
        with anyio.move_on_after(_COMMIT_CAP):
            while not self._file.try_commit(action):  # noqa: ASYNC110 - another process lets go, unannounced
                await anyio.sleep(TRY_SECONDS)
            return
        raise LockLost


async def hold(path: Path, work: Callable[[HeldLock], Awaitable[_T]], deadline: Deadline) -> _T:
    """Do the work while no other process holds this lock; it beats meanwhile, from the same event loop.

    Raises `KernelStartError` when another keeps it for too long, or takes it from us because we hung;
    `DeadlineExceeded`; and whatever the work raises.
    """
    file = LockFile(path)
    await _acquire(file, path, deadline)
    try:
        return await _beating(file, work)
    except LockLost as error:
        raise KernelStartError(
            "The start of the shared gateway stood still for so long that another process has taken over.",
            hint="Try again: the gateway that the other one started is used then.",
        ) from error
    finally:
        file.release()


async def _acquire(file: LockFile, path: Path, deadline: Deadline) -> None:
    with deadline.scope(WAIT_CAP) as scope:
        try:
            while not file.try_acquire():  # noqa: ASYNC110 - another process lets go, unannounced
                await anyio.sleep(TRY_SECONDS)
        except OSError as error:
            raise KernelStartError(
                f"The lock of the shared gateway cannot be used: {path}: {error.strerror or error}",
                hint="It needs a folder that can be written to; PISCES_HOME names another one.",
            ) from error
    if not scope.cancelled_caught:
        return
    by = describe_holder(file.holder())
    if deadline.expired:
        raise DeadlineExceeded(
            f"The shared gateway was not free within {deadline.seconds:g} seconds: it is being started or ended{by}."
        )
    raise KernelStartError(
        f"The shared gateway was not free within {WAIT_CAP:g} seconds: it is being started or ended{by}.",
        hint="See what that process does, or end it; a lock whose holder hangs is taken over after a minute.",
    )


async def _beating(file: LockFile, work: Callable[[HeldLock], Awaitable[_T]]) -> _T:
    """Do the work, and end it when the lock is lost: then another does the same work by now."""
    lost = False
    results: list[_T] = []
    failures: list[Exception] = []

    async def beat() -> None:
        nonlocal lost
        while True:
            await anyio.sleep(BEAT_SECONDS)
            try:
                file.beat()
            except (LockLost, OSError):
                lost = True
                group.cancel_scope.cancel()
                return

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        try:
            results.append(await work(HeldLock(file)))
        except Exception as error:  # noqa: BLE001 - raised again below; here it would come out as a group of errors
            failures.append(error)
        group.cancel_scope.cancel()
    if failures:
        raise failures[0]
    if lost and not results:
        raise LockLost
    return results[0]


def describe_holder(holder: Beat | None) -> str:
    """Who holds the lock and for how long, as the end of a sentence; empty when that is not known."""
    if holder is None:
        return ""
    return f" by process {holder.pid}, for {max(0.0, time.monotonic() - holder.since):.0f} s"
