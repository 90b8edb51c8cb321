"""Finding files and folders by their names."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from .arguments import located, named, text_of, whole_number
from .globs import Glob
from .status import tell
from .walking import Walk, changed, is_file, is_folder, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from .arguments import AnyPath
    from .walking import Found

__all__ = ["find", "glob_files", "walk"]

_SHOWN = 20
_KINDS: dict[str, Callable[[os.DirEntry[str]], bool]] = {
    "file": is_file,
    "dir": is_folder,
    "any": lambda entry: True,
}


def find(
    pattern: str,
    path: AnyPath,
    *,
    type: str,
    limit: int,
    hidden: bool,
    sort_by_mtime: bool,
    maxdepth: int | None,
    mindepth: int | None,
) -> list[Path]:
    """Paths below a folder that match."""
    if type not in _KINDS:
        raise ValueError(f"type is 'file', 'dir' or 'any', not {type!r}")
    most = min(whole_number(limit, "limit", 0), sys.maxsize)
    deepest = None if maxdepth is None else whole_number(maxdepth, "maxdepth", 0)
    first = 1 if mindepth is None else whole_number(mindepth, "mindepth", 0)
    glob = Glob(text_of(pattern, "pattern"), hidden=hidden, anywhere=True)
    everything = Walk(located(path), glob, maxdepth=deepest)
    is_wanted = _KINDS[type]
    wanted: Iterable[Found] = (found for found in everything if found[2] >= first and is_wanted(found[1]))
    if sort_by_mtime:
        wanted = sorted(wanted, key=lambda found: -changed(found[1]))
    return _told(pattern, path, [Path(found) for found, _, _ in itertools.islice(wanted, most)])


def glob_files(pattern: str, path: AnyPath, *, hidden: bool) -> list[Path]:
    """Files below a folder that match a glob from there."""
    glob = Glob(text_of(pattern, "pattern"), hidden=hidden, anywhere=False)
    return _told(pattern, path, [Path(found) for found, entry, _ in Walk(located(path), glob) if is_file(entry)])


def _told(pattern: str, path: AnyPath, found: list[Path]) -> list[Path]:
    matches = [str(match) for match in found[:_SHOWN]]
    tell(pattern=pattern, path=named(path), count=len(found), matches=matches)
    return found
