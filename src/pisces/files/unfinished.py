"""The file that is written beside another before it takes its place."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pisces.files.locking import leads_to, try_lock

Piece = bytes | bytearray | memoryview

_BUFFER: Final = 1024 * 1024
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ACCESS: Final = 0o777
_LONGEST: Final = 200
"""Bytes of the target's name in that of the file beside it: names end at 255."""


class Unfinished:
    """A file under way: its name, and its open descriptor, which holds its lock where there are locks."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def write(self, pieces: Iterable[Piece]) -> None:
        """Write the pieces one after the other, never joined, and have the disk take them."""
        with open(self.descriptor, "wb", buffering=_BUFFER, closefd=False) as file:
            file.writelines(pieces)
        os.fsync(self.descriptor)

    def take_after(self, original: Path) -> None:
        """Have the rights of the original. Who may read it does not grow when its group cannot be kept."""
        status = os.stat(original)
        mode = status.st_mode & _ACCESS
        if not self._belongs_to(status):
            mode = (mode & ~stat.S_IRWXG) | ((mode & stat.S_IRWXO) << 3)
        try:
            os.fchmod(self.descriptor, mode)
        except PermissionError:
            pass  # Some file systems have no modes. It is then for its owner alone, or as open as all that is there.
        _copy_attributes(original, self.descriptor)

    def _belongs_to(self, original: os.stat_result) -> bool:
        """Give it to the owner and the group of the original; False if the group could not be had."""
        mine = os.fstat(self.descriptor)
        for owner, group in ((original.st_uid, original.st_gid), (-1, original.st_gid)):
            if owner in {-1, mine.st_uid} and group == mine.st_gid:
                return True
            try:
                os.fchown(self.descriptor, owner, group)
            except OSError:
                continue
            return True
        return False


@contextmanager
def unfinished(target: Path, *, mode: int) -> Iterator[Unfinished]:
    """A new file beside the target. On an error it is removed; otherwise the caller has renamed it.

    Its descriptor is closed on an error only: with it goes the lock, and who renames the file keeps that.
    """
    made = _make(target, mode)
    try:
        yield made
    except BaseException:
        made.path.unlink(missing_ok=True)
        os.close(made.descriptor)
        raise


def _make(target: Path, mode: int) -> Unfinished:
    """One fixed name, so that what a killed process left does not pile up; another while somebody writes under that."""
    stem = f".{_clipped(target.name)}.pisces-"
    fixed = target.with_name(f"{stem}new")
    _remove_abandoned(fixed)
    try:
        descriptor = os.open(fixed, _NEW, mode)
    except FileExistsError:
        pass
    else:
        # Between making and locking it another writer may have taken it for abandoned.
        if try_lock(descriptor) == "held" and leads_to(fixed, descriptor):
            return Unfinished(fixed, descriptor)
        if leads_to(fixed, descriptor):
            fixed.unlink(missing_ok=True)
        os.close(descriptor)
    unique = target.with_name(f"{stem}{os.urandom(6).hex()}")
    descriptor = os.open(unique, _NEW, mode)
    try_lock(descriptor)
    return Unfinished(unique, descriptor)


def _remove_abandoned(path: Path) -> None:
    """Remove what a process left that was killed while it wrote: nobody holds its lock any more."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if try_lock(descriptor) == "held" and leads_to(path, descriptor):
            path.unlink(missing_ok=True)
    except OSError:
        pass  # Somebody else's; a unique name does as well.
    finally:
        os.close(descriptor)


def _clipped(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_LONGEST])


def _copy_attributes(original: Path, descriptor: int) -> None:
    """Copy access lists and the user's own attributes, where the system has them and lets us."""
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(original)
    except OSError:
        return
    for name in names:
        if name.startswith("user.") or name == "system.posix_acl_access":
            try:
                os.setxattr(descriptor, name, os.getxattr(original, name))
            except OSError:
                continue
