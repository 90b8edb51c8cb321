"""Names of files that could stand at a cursor, in quotes or in a command."""

from __future__ import annotations

import os
from itertools import islice

_LOOKED_AT = 10_000
"""So many files of a folder are looked at."""
_LONGEST = 4096


def matching(begun: str, cursor: int) -> tuple[list[str], int, int]:
    """The files whose path begins so, by its last part, folders with a `/`; hidden ones only where one is begun."""
    folder, slash, name = begun.rpartition("/")
    start = cursor - len(name)
    if len(begun) > _LONGEST or not begun.isprintable():
        return [], start, cursor
    try:
        entries = os.scandir(os.path.expanduser(folder + slash) or ".")
    except OSError:
        return [], start, cursor
    with entries:
        found = [_shown(entry) for entry in islice(entries, _LOOKED_AT) if _fits(entry.name, name)]
    return sorted(found), start, cursor


def _fits(name: str, begun: str) -> bool:
    hidden = name.startswith(".") and not begun.startswith(".")
    return name.startswith(begun) and not hidden and name.isprintable() and not {*name} & {"'", '"', "\\"}


def _shown(entry: os.DirEntry[str]) -> str:
    try:
        return f"{entry.name}/" if entry.is_dir() else entry.name
    except OSError:
        return entry.name
