"""A folder drawn as a tree."""

from __future__ import annotations

import os

from .arguments import located, named, whole_number
from .globs import Glob
from .status import cut, tell
from .walking import Walk, is_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import AnyPath

_LONGEST = 1000


def tree(path: AnyPath, *, max_depth: int, show_hidden: bool) -> str:
    """What is in a folder: by name, folders with a slash at the end, links with where they lead."""
    deepest = whole_number(max_depth, "max_depth", 1)
    walk = Walk(located(path), Glob("**", hidden=show_hidden, anywhere=False), maxdepth=deepest)
    found = list(walk)
    unread = set(walk.unread)
    lines = [(depth, _label(entry) + (" (cannot be read)" if each in unread else "")) for each, entry, depth in found]
    drawn = "\n".join([_printable(os.path.join(named(path), "")), *_drawn(lines)])
    tell(path=named(path), entries=len(found), preview=cut(drawn, _LONGEST))
    return drawn


def _label(entry: os.DirEntry[str]) -> str:
    name = _printable(entry.name)
    if entry.is_symlink():
        try:
            return f"{name} -> {_printable(os.readlink(entry.path))}"
        except OSError:  # It went away meanwhile.
            return name
    return f"{name}/" if is_folder(entry) else name


def _drawn(lines: list[tuple[int, str]]) -> list[str]:
    """The lines with branches before them. From below, so that it is known where a branch goes on."""
    goes_on: list[bool] = [False]
    drawn: list[str] = []
    for depth, label in reversed(lines):
        goes_on = (goes_on + [False] * depth)[: depth + 1]
        trunk = "".join("│   " if more else "    " for more in goes_on[1:depth])
        drawn.append(f"{trunk}{'├── ' if goes_on[depth] else '└── '}{label}")
        goes_on[depth] = True
    return drawn[::-1]


def _printable(name: str) -> str:
    """A name on one line, whatever is in it."""
    if name.isprintable():
        return name
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in name)
