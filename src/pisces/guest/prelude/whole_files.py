"""Files that are opened only if they are plain ones, and replaced in one step or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LONGEST = 200
"""Bytes of a file's name in that of the one beside it: names end at 255."""


def open_plain(path: Path) -> BinaryIO:
    """Open a file to read. Raises `OSError`, and `ValueError` for a pipe or a device: those may never end."""
    check_plain(path, os.stat(path))
    return open(path, "rb")


def check_plain(path: Path, status: os.stat_result) -> None:
    """Raises `IsADirectoryError` for a folder, and `ValueError` for what else is no plain file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a folder, not a file; tree() shows what is in it", str(path))
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is no plain file but a pipe, a socket or a device")


def make_parents(path: Path) -> None:
    """Make the folders that a file is to be in."""
    try:
        os.makedirs(path.parent, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise NotADirectoryError(errno.ENOTDIR, "A part of the path is a file, not a folder", str(path)) from None


@contextmanager
def taking_the_place_of(path: Path, *, mode: int = 0o666, durable: bool = True) -> Iterator[BinaryIO]:
    """A file that takes the place of another, or is made, when all is written; on an error, nothing has changed.

    One that is there keeps its rights, and a symbolic link stays and leads to the new one; a new file gets `mode`, as
    far as the umask lets it. `durable` has the disk take it first. Raises `OSError` with the path that was given.
    """
    target = Path(os.path.realpath(path))
    present = _present(path)
    if present is None:
        make_parents(target)
    beside = unused_name_beside(target)
    with _told_of(path, beside):
        descriptor = os.open(beside, _NEW, mode if present is None else 0o600)
        try:
            with open(descriptor, "wb") as file:
                if present is not None:
                    _take_after(descriptor, present)
                yield file
                file.flush()
                if durable:
                    os.fsync(descriptor)
            os.replace(beside, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise


def write_whole(path: Path, data: bytes) -> None:
    """Replace all that is in a file, or make it, in one step."""
    with taking_the_place_of(path) as file:
        file.write(data)


def unused_name_beside(target: Path) -> Path:
    """A hidden name in the same folder, which nobody else will think of."""
    clipped = os.fsdecode(os.fsencode(target.name)[:_LONGEST])
    return target.with_name(f".{clipped}.pisces-{os.urandom(6).hex()}")


def _present(path: Path) -> os.stat_result | None:
    """What is there now. Raises for what cannot be replaced by a file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    check_plain(path, status)
    # A rename needs no right to the file itself; whoever took that right away did not want it replaced.
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "Is read-only", str(path))
    return status


@contextmanager
def _told_of(path: Path, beside: Path) -> Iterator[None]:
    """What goes wrong with the file beside is an error of the one that the user named."""
    try:
        yield
    except OSError as error:
        if error.filename in {None, str(beside)} and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _take_after(descriptor: int, original: os.stat_result) -> None:
    """Have the rights of the original. Who may read it does not grow when its group cannot be kept."""
    if not hasattr(os, "fchown"):
        return
    mode = stat.S_IMODE(original.st_mode) & 0o777
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (original.st_uid, original.st_gid) and not _given_to(descriptor, original):
        mode = (mode & ~stat.S_IRWXG) | ((mode & stat.S_IRWXO) << 3)
    with suppress(PermissionError):  # Some file systems have no modes.
        os.fchmod(descriptor, mode)


def _given_to(descriptor: int, original: os.stat_result) -> bool:
    """Give it to the owner and the group of the original; False if the group could not be had."""
    for owner in (original.st_uid, -1):
        with suppress(OSError):
            os.fchown(descriptor, owner, original.st_gid)
            return True
    return False
