"""JSON with comments and trailing commas, as editors and agents write their settings: values, and where each stands.

A standard parser gives the values without their places, and accepts no comment. Nothing is repaired: what none of the
clients could read is refused, with its place.
"""

import json
import re
from typing import Any, Final

import msgspec

from pisces.mcp.clients.malformed import Malformed

_DEPTH: Final = 200
"""Nobody's settings are nested deeper, and the parser calls itself for each level."""
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_COMMENT: Final = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING: Final = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS: Final = {"true": True, "false": False, "null": None}


class Node(msgspec.Struct):
    """A value, and the characters that it takes: from `start` to before `end`."""

    value: Any
    start: int
    end: int
    members: "list[Member] | None" = None
    """Of an object, in the order of the text; None for other values."""

    def member(self, key: str) -> "Member | None":
        """The member that counts under this name: the last one, as everywhere."""
        return next((each for each in reversed(self.members or ()) if each.key == key), None)


class Member(msgspec.Struct):
    """A name and its value in an object; `comma` is where the comma after it stands, None if there is none."""

    key: str
    start: int
    node: Node
    comma: int | None = None

    @property
    def end(self) -> int:
        """The end of its value; the comma is after it."""
        return self.node.end


def parse(text: str) -> Node | None:
    """The value that the text holds; None if it holds nothing but blanks and comments. Raises `Malformed`."""
    reader = _Reader(text)
    start = reader.skip(0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    if (rest := reader.skip(node.end)) != len(text):
        raise Malformed("nothing may follow the value", text, rest)
    return node


def comments_between(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where comments begin and end in a part of the text that holds only blanks and comments, and perhaps a comma."""
    found: list[tuple[int, int]] = []
    while start < end:
        if match := _COMMENT.match(text, start, end):
            found.append(match.span())
            start = match.end()
        else:
            start += 1
    return found


class _Reader:
    """Reads one text. Each method takes a place and returns what begins there, with its end."""

    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        while True:
            match = _BLANK.match(self._text, at)
            assert match is not None
            at = match.end()
            if comment := _COMMENT.match(self._text, at):
                at = comment.end()
            elif self._text.startswith("/*", at):
                raise Malformed("this comment has no end", self._text, at)
            else:
                return at

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEPTH:
            raise Malformed(f"values are nested deeper than {_DEPTH} levels", self._text, at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            return self._string(at)
        return self._word(at)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.skip(start + 1)
        while not self._text.startswith("}", at):
            if not self._text.startswith('"', at):
                raise self._unexpected(at, "a name in double quotes, or `}`")
            key = self._string(at)
            colon = self.skip(key.end)
            if not self._text.startswith(":", colon):
                raise self._unexpected(colon, "`:`")
            member = Member(key.value, at, self.value(self.skip(colon + 1), depth + 1))
            members.append(member)
            at = self.skip(member.end)
            if self._text.startswith(",", at):
                member.comma = at
                at = self.skip(at + 1)
            elif not self._text.startswith("}", at):
                raise self._unexpected(at, "`,` or `}`")
        return Node({each.key: each.node.value for each in members}, start, at + 1, members)

    def _array(self, start: int, depth: int) -> Node:
        values: list[Any] = []
        at = self.skip(start + 1)
        while not self._text.startswith("]", at):
            node = self.value(at, depth + 1)
            values.append(node.value)
            at = self.skip(node.end)
            if self._text.startswith(",", at):
                at = self.skip(at + 1)
            elif not self._text.startswith("]", at):
                raise self._unexpected(at, "`,` or `]`")
        return Node(values, start, at + 1)

    def _string(self, at: int) -> Node:
        match = _STRING.match(self._text, at)
        if match is None:
            raise Malformed("this text has no end on its line, or a wrong escape", self._text, at)
        return Node(json.loads(match[0]), at, match.end())

    def _word(self, at: int) -> Node:
        if match := _NUMBER.match(self._text, at):
            return Node(self._number(match[0], at), at, match.end())
        for word, value in _WORDS.items():
            if self._text.startswith(word, at):
                return Node(value, at, at + len(word))
        raise self._unexpected(at, "a value")

    def _number(self, text: str, at: int) -> float:
        try:
            value: float = json.loads(text)
        except ValueError:  # Python reads no integer of more than 4300 digits.
            raise Malformed("this number is too long", self._text, at) from None
        return value

    def _unexpected(self, at: int, wanted: str) -> Malformed:
        found = repr(self._text[at]) if at < len(self._text) else "the end of the file"
        return Malformed(f"{wanted} was expected, not {found}", self._text, at)
