"""One lock between processes, with a heartbeat: a dead holder is known at once, a hung one after a minute.

The lock is a file that its holder has locked with the system's help (`flock`) and that is still the one at its path.
The system frees it when the holder dies. A holder that hangs keeps the file it locked; whoever finds its last beat
too old puts a new file, locked already, in the place of the old one. From then on the old holder holds nothing, and
`holds` tells it so.

Getting the lock, replacing its file, and what a holder does that must not happen after that (`commit`) go one at a
time: each takes a second lock, the guard, for the moment it takes. So no beat of an earlier holder is taken for that
of one who has just come, no two waiters replace the same file, and none replaces the file of the other.

Nothing here waits: `lock` does. The clock is monotonic, and the same for all processes of a machine.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from pisces.settings.recorded_process import RecordedProcess

STALE_SECONDS: Final = 60.0
"""A holder that has not beaten for so long hangs."""


class Beat(msgspec.Struct, frozen=True):
    """What a holder writes into the file."""

    pid: int
    start_time: int
    since: float
    """When it got the lock."""
    beat: float
    """When it last said that it goes on."""

    @property
    def process(self) -> RecordedProcess:
        """Whose beat it is."""
        return RecordedProcess(self.pid, self.start_time)


class LockLost(Exception):
    """Another process has taken the lock, because this one did not beat for a minute."""


class LockFile:
    """One process's view of the lock. Times are those of `time.monotonic()`; tests give others."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = path.with_name(f"{path.name}.guard")
        self._descriptor = -1
        self._since = 0.0

    def try_acquire(self, now: float | None = None) -> bool:
        """Take the lock if it is free, or its holder hangs; False if not now. Raises `OSError`."""
        now = time.monotonic() if now is None else now
        with self._alone() as alone:
            descriptor = self._take(now) if alone else -1
        if descriptor < 0:
            return False
        self._descriptor, self._since = descriptor, now
        return True

    def holds(self) -> bool:
        """Whether the lock is ours, now."""
        return self._descriptor >= 0 and self._is_in_place(self._descriptor)

    def beat(self, now: float | None = None) -> None:
        """Say that we go on. Raises `LockLost`."""
        if not self.holds():
            raise LockLost
        _write(self._descriptor, self._since, time.monotonic() if now is None else now)

    def try_commit(self, action: Callable[[], None]) -> bool:
        """Do something short that only the holder may do; False if not now. Raises `LockLost`: it was not done then."""
        with self._alone() as alone:
            if not alone:
                return False
            if not self.holds():
                raise LockLost
            action()
            return True

    def release(self) -> None:
        """Let go of it; it can be called more than once."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def holder(self) -> Beat | None:
        """Who holds it, as far as the file tells; None when it is free."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return None if _lock(descriptor) else _read(descriptor)
        finally:
            os.close(descriptor)

    def _take(self, now: float) -> int:
        """The locked descriptor of the file at our path, with our beat in it; -1 when another holds the lock."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _lock(descriptor):
                said = _read(descriptor)
                if said is None or now - said.beat <= STALE_SECONDS:
                    return -1
                return self._replace(now)
            _write(descriptor, now, now)
            taken, descriptor = descriptor, -1
            return taken
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _replace(self, now: float) -> int:
        """Put a file of ours, locked, in the place of one whose holder hangs."""
        beside = self._path.with_name(f"{self._path.name}.new")
        beside.unlink(missing_ok=True)  # Left by one who died here: nobody else is here now.
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _write(descriptor, now, now)
            beside.replace(self._path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _is_in_place(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Hold the guard, for a moment; False when another does."""
        descriptor = os.open(self._guard, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield _lock(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(descriptor: int, since: float, now: float) -> None:
    ours = RecordedProcess.of(os.getpid())
    content = msgspec.json.encode(Beat(ours.pid, ours.start_time, since, now))
    # Padded to one length, so that one write replaces all of it: nobody reads half a beat.
    os.pwrite(descriptor, content.ljust(200), 0)


def _read(descriptor: int) -> Beat | None:
    try:
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Beat)
    except msgspec.DecodeError:
        return None
