"""Open a file that is one: no folder, and nothing that answers or blocks."""

import heapq
import os
import stat
from pathlib import Path
from typing import Final

from pisces.errors import FileError

_OPEN: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # A pipe that took the place of the file does not hold us up.
_NAMED: Final = 20
"""How many entries of a folder an error names."""


def open_plain(path: Path) -> int:
    """A descriptor to read from. Raises `FileError` for a folder, a pipe, a socket and a device, and `OSError`."""
    _check(path, os.stat(path).st_mode)  # Before it is opened: to open some devices is to act on them.
    descriptor = os.open(path, _OPEN)
    try:
        _check(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise FileError(f"{path} is a folder, not a file. {_content(path)}")
    if not stat.S_ISREG(mode):
        raise FileError(f"{path} is not a plain file but a pipe, a socket or a device.")


def _content(folder: Path) -> str:
    """What is in a folder, as a sentence: the first names of all."""
    try:
        with os.scandir(folder) as entries:
            names = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries]
    except OSError as error:
        return f"It cannot be listed: {error.strerror}."
    if not names:
        return "It is empty."
    shown = [name.encode("utf-8", "replace").decode("utf-8") for name in heapq.nsmallest(_NAMED, names)]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"It has: {', '.join(shown)}{more}."
