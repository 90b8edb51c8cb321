"""Whole files: read, written, added to, deleted, looked at."""

from __future__ import annotations

import errno
import os
import stat as modes
from pathlib import Path

from .arguments import is_address, located, named, storable, text_of, whole_number
from .status import cut, tell
from .text_files import lines_within, some_lines
from .whole_files import check_plain, make_parents, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .arguments import AnyPath

_PREVIEW = 500


def read(path: AnyPath, offset: int, limit: int | None) -> str:
    """The text of a file or an address, or some lines of it; past the end there are none."""
    first = whole_number(offset, "offset", 1)
    count = None if limit is None else whole_number(limit, "limit", 0)
    text = text_at(path, first, count)
    tell(path=named(path), chars=len(text), preview=cut(text, _PREVIEW))
    return text


def text_at(path: AnyPath, first: int, count: int | None) -> str:
    """Lines of a file, of an artifact, or of what the host reads at another address."""
    name = named(path)
    if not is_address(name):
        return some_lines(located(path), first, count)
    from . import artifacts

    if name.startswith(artifacts.SCHEME):
        return artifacts.text_at(name, first, count)
    from . import host_tools

    return lines_within(str(host_tools.HostTool("read")(path=name)), first, count)


def write(path: AnyPath, content: str) -> Path:
    """Replace a file in one step. One that is there keeps its mode, and a link to it stays."""
    target = located(path)
    data = storable(text_of(content, "content"), target)
    tell(path=named(path), chars=len(content))
    write_whole(target, data)
    return target


def append(path: AnyPath, content: str) -> Path:
    """Add a text exactly as it is: no line is ended first."""
    target = located(path)
    data = storable(text_of(content, "content"), target)
    tell(path=named(path), chars=len(content))
    try:
        check_plain(target, os.stat(target))
    except FileNotFoundError:
        make_parents(Path(os.path.realpath(target)))
    with open(target, "ab") as file:
        file.write(data)
    return target


def rm(path: AnyPath, *, recursive: bool) -> None:
    """Delete a file, a link (not what it leads to), or a folder with all in it."""
    target = located(path)
    tell(path=named(path), recursive=bool(recursive))
    if not modes.S_ISDIR(os.lstat(target).st_mode):
        os.unlink(target)
        return
    if not recursive:
        raise IsADirectoryError(errno.EISDIR, "Is a folder: recursive=True deletes it with all in it", str(target))
    if _has_working_folder(target):
        raise ValueError(f"{target} is the working folder, or has it in it, and is not deleted")
    import shutil

    try:
        shutil.rmtree(target)
    except OSError as error:
        # It names what could not be deleted by its own name alone.
        raise OSError(error.errno, f"{error.strerror} for {error.filename!r} in it", str(target)) from None


def _has_working_folder(folder: Path) -> bool:
    try:
        working = os.getcwd()
    except FileNotFoundError:  # It is gone already.
        return False
    real = os.path.realpath(folder)
    return os.path.commonpath([real, working]) == real


def stat(path: AnyPath) -> dict[str, Any]:
    """What a file is, or what a link leads to.

    `mtime` is a time in UTC as ISO 8601 has it, `2026-11-16T12:00:00.000000+00:00`; `mode` is octal text, `0644`.
    """
    from datetime import datetime, timezone

    status = os.stat(located(path))
    moment = datetime.fromtimestamp(status.st_mtime, tz=timezone.utc).isoformat(timespec="microseconds")
    found = {
        "path": named(path),
        "size": status.st_size,
        "is_file": modes.S_ISREG(status.st_mode),
        "is_dir": modes.S_ISDIR(status.st_mode),
        "mtime": moment,
        "mode": f"{modes.S_IMODE(status.st_mode):04o}",
    }
    tell(path=found["path"], size=found["size"], is_dir=found["is_dir"], mtime=moment)
    return found
