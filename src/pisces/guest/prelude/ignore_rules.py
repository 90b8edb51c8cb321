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
    Last = Callable[[str], int]
    """The number of the last rule that matches a name, or -1."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Kind:
    """The rules of one file that concern files, or those that concern folders; the later a rule, the more it counts."""

    def __init__(self, rules: list[tuple[int, str]]) -> None:
        self._paths: dict[str, dict[str, int]] = {}
        self._path_patterns: list[tuple[str, int, Match]] = []
        of_paths = [(number, pattern.removeprefix("/")) for number, pattern in rules if "/" in pattern]
        for number, pattern in of_paths:
            self._add_path(number, pattern)
        self._path_patterns.reverse()
        self._by_name = _by_name([(number, pattern) for number, pattern in rules if "/" not in pattern])

    def _add_path(self, number: int, pattern: str) -> None:
        size = plain_length(pattern)
        if size == len(pattern):
            folder, slash, name = pattern.rpartition("/")
            self._paths.setdefault(folder + slash, {})[name] = number
        else:
            self._path_patterns.append((pattern[:size], number, _compiled(expression(pattern))))

    def within(self, way: str) -> Last:
        """What gives the last rule for a name in the folder that this way leads to, as `a/b/`."""
        by_name = self._by_name
        here = self._paths.get(way, {})
        # Most rules for paths are about one folder, and need not be tried in others.
        patterns = [
            (number, match)
            for start, number, match in self._path_patterns
            if start.startswith(way) or way.startswith(start)
        ]
        if not (here or patterns):
            return by_name

        def last(name: str) -> int:
            found = by_name(name)
            if name in here:
                found = max(found, here[name])
            return _later(patterns, way + name, found) if patterns else found

        return last


def _by_name(rules: list[tuple[int, str]]) -> Last:
    """What gives the last of these rules that matches a name."""
    names: dict[str, int] = {}
    suffixes: dict[str, int] = {}
    written: list[tuple[int, str]] = []
    for number, pattern in rules:
        if plain_length(pattern) == len(pattern):
            names[pattern] = number
        elif _is_suffix(pattern):
            suffixes[pattern[1:]] = number
        else:
            written.append((number, expression(pattern, f"r{number}")))
    patterns = [(number, _compiled(text)) for number, text in reversed(written)]
    any_pattern = _compiled("|".join(text for _, text in written) or NEVER)

    def last(name: str) -> int:
        found = names.get(name, -1)
        dot = name.rfind(".")
        if dot >= 0:
            found = max(found, suffixes.get(name[dot:], -1))
        if written and any_pattern(name):
            return _later(patterns, name, found)
        return found

    return last


def _is_suffix(pattern: str) -> bool:
    """Whether it is one such as `*.log`, of which most ignore files are full."""
    return pattern.startswith("*.") and plain_length(pattern[1:]) == len(pattern) - 1 and "." not in pattern[2:]


def _compiled(written: str) -> Match:
    return re.compile(written, re.DOTALL).fullmatch


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
        self.takes_in: list[bool] = []
        """Of each rule, whether it takes in again what rules before it leave out."""
        for_files: list[tuple[int, str]] = []
        for_folders: list[tuple[int, str]] = []
        for line in _lines(content):
            pattern = line.removeprefix("!")
            whole = pattern.removesuffix("/")
            if whole.strip("/"):
                rule = len(self.takes_in), whole
                self.takes_in.append(line.startswith("!"))
                for_folders.append(rule)
                if whole == pattern:
                    for_files.append(rule)
        self.files = _Kind(for_files)
        self.folders = _Kind(for_folders)

    def __bool__(self) -> bool:
        return bool(self.takes_in)


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
