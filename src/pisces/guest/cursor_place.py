"""Where the end of some Python source is: in a string, a comment, which brackets. It may be wrong, or half typed."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

_TOKEN = re.compile(
    r"""(?P<string>(?<!\w)[rbuftRBUFT]{0,2}(?:\"{3}|'{3}|["']))
    | (?P<comment>\#[^\r\n]*)
    | (?P<newline>\\?(?:\r\n|[\r\n]))
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<other>\w+|[^\w\s]|[ \t\f]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE = {
    quote: re.compile(r"\\.|" + quote + (r"|[\r\n]" if len(quote) == 1 else ""), re.DOTALL)
    for quote in ("'", '"', "'''", '"""')
}
_FIELD = re.compile(r"\{\{|\}\}|[{}]")

if TYPE_CHECKING:

    class Place(NamedTuple):
        """The end of some source."""

        line: int
        opening: int
        string: int
        in_comment: bool
        brackets: list[int]
else:
    Place = namedtuple("Place", ("line", "opening", "string", "in_comment", "brackets"))
"""`line` is where the logical line begins. In a string, `opening` is where its prefix or quote is, and `string` where
its text begins; else both are -1. `brackets` has the places of those that are open."""


def place_of(source: str) -> Place:
    """Where the end of the source is. The fields of an f-string are code."""
    position, line = 0, 0
    brackets: list[int] = []
    while position < len(source):
        token = _TOKEN.match(source, position)
        assert token is not None  # The last alternative takes any character.
        kind, text, begun, position = token.lastgroup, token.group(), position, token.end()
        if kind == "newline" and not brackets and text[:1] != "\\":
            line = position
        elif kind == "comment" and position == len(source):
            return Place(line, -1, -1, True, brackets)
        elif kind == "open":
            brackets.append(begun)
        elif kind == "close" and brackets:
            brackets.pop()
        elif kind == "string":
            end = _end_of_string(source, text.lstrip("rbuftRBUFT"), position)
            if end < 0:
                return _in_string(source, line, begun, position, brackets)
            position = end
    return Place(line, -1, -1, False, brackets)


def _end_of_string(source: str, quote: str, position: int) -> int:
    """Where a string ends whose text begins here; -1 if it does not. One on one line ends with the line."""
    while True:
        found = _INSIDE[quote].search(source, position)
        if found is None:
            return -1
        position = found.end()
        if found.group() == quote:
            return position
        if found.group() in "\r\n":
            return found.start()


def _in_string(source: str, line: int, opening: int, start: int, brackets: list[int]) -> Place:
    """Inside a string, or in a field of one."""
    field = -1
    if not {"f", "t"}.isdisjoint(source[opening:start].lower()):
        for found in _FIELD.finditer(source, start):
            if found.group() in "{}":
                field = found.end() if found.group() == "{" else -1
    if field < 0:
        return Place(line, opening, start, False, brackets)
    inner = place_of(source[field:])
    opened, text = (-1, -1) if inner.string < 0 else (inner.opening + field, inner.string + field)
    return Place(field, opened, text, inner.in_comment, [place + field for place in inner.brackets])
