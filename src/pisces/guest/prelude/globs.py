"""The globs of `find`, `glob_files` and `rgrep`, matched one name after the other on the way down a tree."""

from __future__ import annotations

import fnmatch
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Optional

    Match = Callable[[str], Optional[object]]

_ANY_FOLDERS = "**"


class Glob:
    """A pattern such as `src/**/*.py`. How far it has been matched is a set of places in it, which may be empty.

    One without a slash matches names `anywhere`, if that is asked for. A name that begins with a dot matches only what
    begins with a dot too, unless `hidden`. Raises `ValueError` for a pattern that can match nothing.
    """

    def __init__(self, pattern: str, *, hidden: bool, anywhere: bool) -> None:
        if not pattern:
            raise ValueError("the pattern is empty: '*' matches every name")
        self.only_folders = pattern.endswith("/")
        parts = [part for part in pattern.split("/") if part not in {"", "."}]
        if pattern.startswith("/") or ".." in parts or not parts:
            raise ValueError(f"the pattern {pattern!r} leads out of the folder: give the folder to look in as `path`")
        if anywhere and len(parts) == 1:
            parts.insert(0, _ANY_FOLDERS)
        if parts[-1] == _ANY_FOLDERS:
            parts.append("*")
        self._hidden = hidden
        self._parts = parts
        self._matches = [_matcher(part, pattern) for part in parts]
        self._ending = self._matches[-1] if hidden or parts[-1][0] == "." else _unless_hidden(self._matches[-1])
        self.start = self._with_nothing_between(0)

    def ending(self, places: frozenset[int]) -> Match | None:
        """What a name has to match for the pattern to end with it, or None if it cannot end here."""
        return self._ending if len(self._parts) - 1 in places else None

    def after(self, places: frozenset[int], folder: str) -> frozenset[int]:
        """How far it is matched in a folder of this name; empty if nothing below it can match."""
        visible = self._hidden or folder[0] != "."
        found: set[int] = set()
        for place in places:
            part = self._parts[place]
            if part == _ANY_FOLDERS:
                if visible:
                    found |= self._with_nothing_between(place)
            elif (visible or part[0] == ".") and place + 1 < len(self._parts) and self._matches[place](folder):
                found |= self._with_nothing_between(place + 1)
        return frozenset(found)

    def _with_nothing_between(self, place: int) -> frozenset[int]:
        """This place, and those after it that are reached when `**` stands for no folder at all."""
        found = {place}
        while self._parts[place] == _ANY_FOLDERS:
            place += 1
            found.add(place)
        return frozenset(found)


def _matcher(part: str, pattern: str) -> Match:
    if part == "*":
        return _any_name
    try:
        return re.compile(fnmatch.translate(part)).match
    except re.error as error:
        raise ValueError(f"the pattern {pattern!r} is no glob: {error}") from None


def _unless_hidden(match: Match) -> Match:
    return lambda name: None if name[0] == "." else match(name)


def _any_name(name: str) -> bool:
    return True
