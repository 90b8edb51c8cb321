"""Finding files and folders by their names."""

from __future__ import annotations

import itertools
from pathlib import Path

from .arguments import located, named, text_of, whole_number
from .globs import Glob
from .status import tell
from .walking import Walk, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .arguments import AnyPath
    from .walking import Found

__all__ = ["find", "glob_files", "walk"]

_SHOWN = 20
_KINDS: dict[str, Callable[[Found], bool]] = {
    "file": lambda found: found.is_file(),
    "dir": lambda found: found.is_folder(),
    "any": lambda found: True,
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
    most = whole_number(limit, "limit", 0)
    deepest = None if maxdepth is None else whole_number(maxdepth, "maxdepth", 0)
    first = 1 if mindepth is None else whole_number(mindepth, "mindepth", 0)
    glob = Glob(text_of(pattern, "pattern"), hidden=hidden, anywhere=True)
    everything = Walk(located(path), glob, maxdepth=deepest)
    wanted: Iterable[Found] = (found for found in everything if found.depth >= first and _KINDS[type](found))
    if sort_by_mtime:
        wanted = sorted(wanted, key=lambda found: -found.changed())
    return _told(pattern, path, [Path(found.path) for found in itertools.islice(wanted, most)])


def glob_files(pattern: str, path: AnyPath, *, hidden: bool) -> list[Path]:
    """Files below a folder that match a glob from there."""
    glob = Glob(text_of(pattern, "pattern"), hidden=hidden, anywhere=False)
    return _told(pattern, path, [Path(found.path) for found in Walk(located(path), glob) if found.is_file()])


def _told(pattern: str, path: AnyPath, found: list[Path]) -> list[Path]:
    matches = [str(match) for match in found[:_SHOWN]]
    tell(pattern=pattern, path=named(path), count=len(found), matches=matches)
    return found
