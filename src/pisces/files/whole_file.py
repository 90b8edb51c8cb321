"""Read a file as one version of it, and replace it in one step, under a lock that keeps other writers out."""

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pisces.errors import FileChanged, FileError
from pisces.files.failures import changed, explained, missing
from pisces.files.locking import leads_to, try_lock
from pisces.files.plain_file import open_plain
from pisces.files.unfinished import Piece, Unfinished, unfinished
from pisces.files.version import FileVersion

__all__ = ["FileVersion", "LockedFile", "locked", "read_whole"]

_RETRY: Final = 0.02
_TRIES: Final = 5
"""How often a file is read that changes while it is read."""
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


def read_whole(path: Path) -> tuple[bytes, FileVersion]:
    """All of a file, and which version of it that is.

    Raises `FileMissing`; `FileError` for what is no plain file or may not be read; `FileChanged` for a file that does
    not stop changing.
    """
    with explained(path, "read"):
        descriptor = open_plain(path)
        try:
            return _read(descriptor, path)
        finally:
            os.close(descriptor)


@contextmanager
def locked(
    path: Path, *, wait: float = 10.0, while_waiting: Callable[[], None] | None = None
) -> Iterator["LockedFile"]:
    """Be the only writer of a file that goes by this, among threads and processes. It need not be there.

    Tries for `wait` seconds, and calls `while_waiting` between tries: what that raises ends the wait. Raises
    `FileError` when somebody else holds it all that time, and for what cannot be read. On a file system without locks
    it goes on without one: that the file is the version that was read is checked in any case.
    """
    with explained(path, "opened"):
        resolved = _resolved(path)
    file = LockedFile(path, resolved, wait, while_waiting)
    try:
        file.acquire()
        yield file
    finally:
        file.close()


class LockedFile:
    """A file, or the place for one, that no other writer touches meanwhile. Made by `locked`."""

    def __init__(self, given: Path, path: Path, wait: float, while_waiting: Callable[[], None] | None) -> None:
        self.path = path
        """Where it is, symbolic links followed: they stay, and what they lead to is replaced."""
        self.version: FileVersion | None = None
        """What `replace` expects to find: as of the last read, or when it was locked. None: it is not there."""
        self._given = given
        self._wait = wait
        self._while_waiting = while_waiting
        self._descriptor: int | None = None

    def read(self) -> bytes:
        """All of it; `version` is then the version of that. Raises as `read_whole` does."""
        if self._descriptor is None or not leads_to(self.path, self._descriptor):
            self.acquire()
        with explained(self._given, "read"):
            if self._descriptor is None:
                raise missing(self._given)
            data, self.version = _read(self._descriptor, self._given)
        return data

    def replace(self, pieces: Iterable[Piece]) -> FileVersion:
        """Put these bytes in its place, all or none of them, and keep the lock. Mode, owner and links stay.

        Raises `FileChanged` if it is not the version that was read, and `FileError` if it cannot be written; the file
        is then as it was.
        """
        with explained(self._given, "written"):
            if self.version is not None:
                self._check_writable()
            self._check_unchanged()
            with unfinished(self.path, mode=0o666 if self.version is None else 0o600) as new:
                if self.version is not None:
                    new.take_after(self.path)
                new.write(pieces)
                self._check_unchanged()
                self._put_in_place(new)
            self._hold(new.descriptor)
            self.version = FileVersion.of(os.fstat(new.descriptor))
        return self.version

    def acquire(self) -> None:
        """Lock the file that is there now, if one is."""
        deadline = time.monotonic() + self._wait
        self._hold(None)
        with explained(self._given, "opened"):
            while not self._try_to_acquire():
                if time.monotonic() >= deadline:
                    raise FileError(
                        f"{self._given} is being written by another process, for more than {self._wait:g} seconds.",
                        hint="Try again, or end that process.",
                    )
                if self._while_waiting is not None:
                    self._while_waiting()
                time.sleep(_RETRY)

    def close(self) -> None:
        """Let others have it."""
        self._hold(None)

    def _try_to_acquire(self) -> bool:
        try:
            descriptor = open_plain(self.path)
        except FileNotFoundError:
            self.version = None
            return True
        try:
            # Who waited for the lock may have got that of a file whose place another has taken meanwhile.
            got = try_lock(descriptor) != "busy" and leads_to(self.path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if not got:
            os.close(descriptor)
            return False
        self._hold(descriptor)
        self.version = FileVersion.of(os.fstat(descriptor))
        return True

    def _hold(self, descriptor: int | None) -> None:
        held, self._descriptor = self._descriptor, descriptor
        if held is not None:
            os.close(held)

    def _check_writable(self) -> None:
        """A rename needs no right to the file itself; whoever took that right away did not want it replaced."""
        effective = os.access in os.supports_effective_ids
        if not os.access(self.path, os.W_OK, effective_ids=effective):
            if not self.path.exists():
                raise changed(self._given)
            raise FileError(f"{self._given} is read-only.", hint="Make it writable (`chmod u+w`), or write elsewhere.")

    def _check_unchanged(self) -> None:
        try:
            present = FileVersion.of(os.stat(self.path))
        except FileNotFoundError:
            present = None
        if present != self.version:
            raise changed(self._given, created=self.version is None)

    def _put_in_place(self, new: Unfinished) -> None:
        if self.version is not None:
            os.rename(new.path, self.path)
            return
        try:
            os.link(new.path, self.path)  # It fails, and a rename would not, when another has made the file meanwhile.
        except FileExistsError:
            raise changed(self._given, created=True) from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.rename(new.path, self.path)
        else:
            os.unlink(new.path)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # How Pythons before 3.13 put it that links lead in a circle.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


def _read(descriptor: int, path: Path) -> tuple[bytes, FileVersion]:
    for _ in range(_TRIES):
        before = FileVersion.of(os.fstat(descriptor))
        os.lseek(descriptor, 0, os.SEEK_SET)
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            data = file.readall()
        if FileVersion.of(os.fstat(descriptor)) == before:
            return data, before
    raise FileChanged(f"{path} is being written: it changed each time that it was read.", hint="Read it again later.")
