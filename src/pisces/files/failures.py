"""What the operating system says about a file, as an error that says what to do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pisces.errors import FileChanged, FileError, FileMissing

_REMEDIES: Final[dict[int, str]] = {
    errno.ENOSPC: "Free some space, or write to another disk.",
    errno.EDQUOT: "Your quota on this disk is used up: delete something, or write to another disk.",
    errno.EFBIG: "This process may not write files that large: raise the limit (`ulimit -f`), or write less.",
    errno.EROFS: "It is on a disk that is mounted read-only: write to another place.",
    errno.EACCES: "You lack the right to do that: change the mode of the file or of its folder, or use another place.",
    errno.EPERM: "You lack the right to do that: change the mode of the file or of its folder, or use another place.",
    errno.EBUSY: "It is a mount point of its own, which cannot be replaced: write to another place.",
    errno.ENOTDIR: "A part of the path is a file, not a folder.",
    errno.ELOOP: "Its symbolic links lead in a circle.",
    errno.ENAMETOOLONG: "Give it a shorter name.",
    errno.EIO: "The disk reports an error.",
}


@contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Raises `FileError` in place of an `OSError`: `<path> could not be <doing>: <why>`, and what to do."""
    _check_name(path)
    try:
        yield
    except FileNotFoundError as error:
        raise missing(path) from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(f"{path} could not be {doing}: {why}", hint=_REMEDIES.get(error.errno or 0, "")) from error


def missing(path: Path) -> FileMissing:
    """The error of a file, or of the folder that it would be in, that is not there."""
    try:
        has_folder = path.parent.is_dir()
    except OSError:
        has_folder = False
    if has_folder:
        return FileMissing(f"File not found: {path}")
    return FileMissing(f"File not found: {path}", hint=f"There is no folder {path.parent}.")


def changed(path: Path, *, created: bool = False) -> FileChanged:
    """The error of a file that somebody else has written to, or made."""
    what = "has been created by somebody else meanwhile" if created else "has changed on disk since it was read"
    return FileChanged(f"{path} {what}; nothing was written.", hint="Read it again.")


def _check_name(path: Path) -> None:
    """Raises `FileError` for a text that no file can be named by: a NUL in it, or half of a surrogate pair."""
    try:
        usable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise FileError(f"No file can have this name: {str(path)!a}", hint="Give the name of a file.")
