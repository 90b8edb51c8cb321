"""The rules of one of git's ignore files, compiled once and asked about every name.

Names and paths have one character for each of their bytes, since git compares bytes.
"""

from __future__ import annotations

import re

from .wildmatch import NEVER, expression, plain_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Optional

    Match = Callable[[str], Optional[object]]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Kind:
    """The rules of one file that concern files, or those that concern folders; the later a rule, the more it counts."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.ends: dict[str, int] = {}
        self.all_ends: tuple[str, ...] = ()
        self.name_patterns: list[tuple[int, Match]] = []
        self.paths: dict[str, int] = {}
        self.path_patterns: list[tuple[int, Match]] = []

    def add(self, number: int, pattern: str) -> None:
        """Add a rule that is later than all before it."""
        if "/" in pattern:
            self._add_path(number, pattern[1:] if pattern[0] == "/" else pattern)
        elif plain_length(pattern) == len(pattern):
            self.names[pattern] = number
        elif pattern[0] == "*" and plain_length(pattern[1:]) == len(pattern) - 1:
            self.ends[pattern[1:]] = number
            self.all_ends = tuple(self.ends)
        else:
            self.name_patterns[:0] = _compiled(number, pattern)

    def _add_path(self, number: int, pattern: str) -> None:
        if plain_length(pattern) == len(pattern):
            self.paths[pattern] = number
        else:
            self.path_patterns[:0] = _compiled(number, pattern)

    def last(self, name: str, folder: str) -> int:
        """The number of the last rule that matches, or -1; `folder` is where the name is, with a slash at its end."""
        found = self.names.get(name, -1)
        if self.all_ends and name.endswith(self.all_ends):
            found = max(found, *(number for end, number in self.ends.items() if name.endswith(end)))
        if self.name_patterns:
            found = _later(self.name_patterns, name, found)
        if self.paths or self.path_patterns:
            path = folder + name
            found = max(found, self.paths.get(path, -1))
            found = _later(self.path_patterns, path, found)
        return found


def _compiled(number: int, pattern: str) -> Iterator[tuple[int, Match]]:
    written = expression(pattern)
    if written != NEVER:
        yield number, re.compile(written, re.DOTALL).fullmatch


def _later(patterns: list[tuple[int, Match]], text: str, found: int) -> int:
    """The last of the patterns that matches, if it is later than the one that was found already."""
    for number, match in patterns:
        if number < found:
            break
        if match(text):
            return number
    return found


class Rules:
    """The rules of one file."""

    def __init__(self, content: bytes) -> None:
        self._negative: list[bool] = []
        self._files = _Kind()
        self._folders = _Kind()
        for line in _lines(content):
            negative = line.startswith("!")
            pattern = line[1:] if negative else line
            only_folders = pattern.endswith("/")
            self._add(pattern[:-1] if only_folders else pattern, negative=negative, only_folders=only_folders)

    def __bool__(self) -> bool:
        return bool(self._negative)

    def _add(self, pattern: str, *, negative: bool, only_folders: bool) -> None:
        if pattern.strip("/"):
            number = len(self._negative)
            self._negative.append(negative)
            self._folders.add(number, pattern)
            if not only_folders:
                self._files.add(number, pattern)

    def leaves_out(self, name: str, folder: str, is_folder: bool) -> bool | None:
        """Whether the last rule that matches leaves this out or takes it in again; None if no rule matches."""
        number = (self._folders if is_folder else self._files).last(name, folder)
        return None if number < 0 else not self._negative[number]


def _lines(content: bytes) -> Iterator[str]:
    """The lines that are rules, without what is not part of them."""
    for raw in content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"):
        if raw and not raw.startswith(b"#"):
            ended = raw[:-1] if raw.endswith(b"\r") else raw
            line = _without_spaces(ended.split(b"\0", 1)[0].decode("latin-1"))
            if line:
                yield line


def _without_spaces(line: str) -> str:
    """The line without spaces at its end, but for one after a backslash."""
    kept = at = 0
    while at < len(line):
        if line[at] == "\\":
            if at + 1 == len(line):
                return line
            at += 1
            kept = at + 1
        elif line[at] != " ":
            kept = at + 1
        at += 1
    return line[:kept]
