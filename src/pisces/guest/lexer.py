"""Reads Python source just well enough to know where a logical line ends and what stands at its edges.

It never fails: the source may be wrong, and the text after special syntax is no Python at all (`!ls "`), so a line is
read only when its turn comes. The standard `tokenize` cannot do that: from Python 3.12 on it stops at such a line.
"""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

_FIELDS_ARE_CODE = sys.version_info >= (3, 12)
"""Since then the fields of an f-string have quotes, comments and lines of their own."""

_TOKEN = re.compile(
    r"""(?P<string>[rbuftRBUFT]{0,2}(?:\"{3}|'{3}|["']))
    | (?P<comment>\#[^\r\n]*)
    | (?P<newline>\r\n|[\r\n])
    | (?P<joined>\\(?:\r\n|[\r\n]))
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<operator>[=!<>:+\-*/%&|^@]=)
    | (?P<assign>=)
    | (?P<space>[ \t\f]+)
    | (?P<other>\w+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMAND = re.compile(r"(?:[ \t]|\\(?:\r\n|[\r\n]))*(%[^\W\d]|!(?!=))")
_ESCAPE = r"\\(?:\r\n|.)"
_ESCAPE_IN_FIELDS = r"\\(?:\r\n|[^{}])|\{\{"
_STRING_PART: dict[tuple[str, bool], re.Pattern[str]] = {}

if TYPE_CHECKING:

    class LogicalLine(NamedTuple):
        """Where a logical line ends, and whether there is special syntax in it."""

        end: int
        command: int
        asks: bool
else:
    LogicalLine = namedtuple("LogicalLine", ("end", "command", "asks"))


def read_logical_line(source: str, start: int) -> LogicalLine:
    """Read the logical line that begins at `start`.

    `end` is where the next one begins. `command` is the place of `%` or `!` right after the line's first assignment,
    or -1; reading stops there, and `end` is the same place. `asks` says that its last token is a question mark.
    """
    position, depth, assigned, last = start, 0, False, ""
    while position < len(source):
        token = _TOKEN.match(source, position)
        assert token is not None  # the last alternative takes any character
        kind, text, position = token.lastgroup, token.group(), token.end()
        if kind == "newline" and depth == 0:
            break
        if kind in {"newline", "joined", "space"}:
            continue
        last = text
        if kind == "string":
            position = _end_of_string(source, text, position)
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "assign" and depth == 0 and not assigned:
            assigned = True
            command = _COMMAND.match(source, position)
            if command is not None:
                return LogicalLine(command.start(1), command.start(1), False)
    return LogicalLine(position, -1, last == "?")


def _end_of_string(source: str, opening: str, position: int) -> int:
    """Where the string ends that `opening`, its prefix and quote, began; a newline ends one that is not closed."""
    quote = opening.lstrip("rbuftRBUFT")
    has_fields = _FIELDS_ARE_CODE and not {"f", "t"}.isdisjoint(opening.lower())
    part = _string_part(quote, has_fields)
    while True:
        found = part.search(source, position)
        if found is None:
            return len(source)
        position = found.end()
        text = found.group()
        if text == quote:
            return position
        if text in {"\r", "\n"}:
            return found.start()
        if text == "{":
            position = _end_of_field(source, position, quote)


def _string_part(quote: str, has_fields: bool) -> re.Pattern[str]:
    """What must be looked at in a string with this quote: escapes, its end and, where they count, its fields."""
    pattern = _STRING_PART.get((quote, has_fields))
    if pattern is None:
        parts = [_ESCAPE_IN_FIELDS if has_fields else _ESCAPE, quote]
        parts += [r"\{"] if has_fields else []
        parts += [r"[\r\n]"] if len(quote) == 1 else []
        pattern = _STRING_PART[quote, has_fields] = re.compile("|".join(parts), re.DOTALL)
    return pattern


def _end_of_field(source: str, position: int, quote: str) -> int:
    """Where the field of an f-string ends whose brace was just read."""
    depth = 0
    while position < len(source):
        if depth == 0 and source[position] == ":":
            return _end_of_format(source, position + 1, quote)
        token = _TOKEN.match(source, position)
        assert token is not None
        kind, text, position = token.lastgroup, token.group(), token.end()
        if kind == "string":
            position = _end_of_string(source, text, position)
        elif kind == "open":
            depth += 1
        elif kind == "close":
            if depth == 0:
                return position
            depth -= 1
    return position


def _end_of_format(source: str, position: int, quote: str) -> int:
    """Where a field ends whose format specification begins here; that is text, with fields of its own."""
    part = re.compile(r"[{}]|" + quote)
    while True:
        found = part.search(source, position)
        if found is None:
            return len(source)
        if found.group() == quote:
            return found.start()
        position = found.end()
        if found.group() == "}":
            return position
        position = _end_of_field(source, position, quote)
