"""Where the values of a JSON text begin and end, so that one of them can be replaced and every other byte stays.

All of it goes by bytes and expects JSON that is known to be valid. Nothing is decoded but the names of members, and
single values where that is asked for.
"""

import json
import re
from typing import Any, Final

import msgspec

from pisces.errors import BadCell

Data = bytes | memoryview

_SPACE: Final = re.compile(rb"[ \t\n\r]*+")
_FLAT: Final = re.compile(rb'[^\[\]{}"]*+(?:"[^"\\]{0,1000}+(?:\\.[^"\\]{0,1000}+)*+"[^\[\]{}"]*+)*+', re.DOTALL)
"""All up to the next bracket that is not inside a string, or to a long string: one step for many short lines."""
_SCALAR: Final = re.compile(rb"[^ \t\n\r,\]}]++")

_QUOTE: Final = ord('"')
_BACKSLASH: Final = ord("\\")
_OPENING: Final = frozenset(b"[{")
_COMMA: Final = ord(",")


class Span(msgspec.Struct, frozen=True):
    """A value, from its first byte to behind its last."""

    start: int
    end: int


class Member(msgspec.Struct, frozen=True):
    """One member of an object."""

    key: str
    key_start: int
    key_end: int
    start: int
    """Where its value begins."""
    end: int


def skip_space(data: Data, at: int) -> int:
    """Where the next token begins."""
    return _end(_SPACE, data, at)


def skip_string(data: bytes, at: int) -> int:
    """Where the string that begins here ends: a picture of megabytes takes as long as to look for its last quote."""
    while True:
        at = data.index(b'"', at + 1)
        before = at - 1
        while data[before] == _BACKSLASH:
            before -= 1
        if (at - before) % 2:
            return at + 1


def skip_value(data: bytes, at: int) -> int:
    """Where the value that begins here ends."""
    if data[at] == _QUOTE:
        return skip_string(data, at)
    if data[at] not in _OPENING:
        return _end(_SCALAR, data, at)
    depth = 0
    while True:
        at = _end(_FLAT, data, at)
        if data[at] == _QUOTE:
            at = skip_string(data, at)
            continue
        depth += 1 if data[at] in _OPENING else -1
        at += 1
        if depth == 0:
            return at


def value_of(data: Data) -> Any:
    """The value that this is the JSON of. Raises `BadCell` where Python has a limit that JSON has not."""
    try:
        return json.loads(bytes(data))
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise BadCell(f"a value that cannot be read: {why}") from None


def member_at(data: bytes, at: int) -> tuple[str, int, int]:
    """The name of the member whose key begins here, where the key ends, and where the value begins."""
    key_end = skip_string(data, at)
    colon = skip_space(data, key_end)
    return json.loads(bytes(data[at:key_end])), key_end, skip_space(data, colon + 1)


def members(data: bytes, at: int = 0) -> list[Member]:
    """The members of the object that begins here, in order; of a name that comes twice, both."""
    found: list[Member] = []
    at = skip_space(data, at + 1)
    while data[at] == _QUOTE:
        key, key_end, start = member_at(data, at)
        end = skip_value(data, start)
        found.append(Member(key, at, key_end, start, end))
        at = after_comma(data, end)
    return found


def elements(data: bytes, at: int = 0) -> list[Span]:
    """The elements of the array that begins here, in order."""
    found: list[Span] = []
    at = skip_space(data, at + 1)
    while data[at : at + 1] != b"]":
        end = skip_value(data, at)
        found.append(Span(at, end))
        at = after_comma(data, end)
    return found


def after_comma(data: Data, end: int) -> int:
    """Where the next value begins, or the closing bracket is, after one that ends here."""
    at = skip_space(data, end)
    return skip_space(data, at + 1) if data[at] == _COMMA else at


def _end(pattern: re.Pattern[bytes], data: Data, at: int) -> int:
    match = pattern.match(data, at)
    assert match is not None, f"no JSON at byte {at}"
    return match.end()
