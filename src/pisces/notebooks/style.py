"""How a notebook's JSON is laid out: what is added to a file looks like what is there."""

import json
import re
from typing import Any, Final

import msgspec

from pisces.notebooks.json_spans import Data, member_at, skip_space

_QUOTE: Final = ord('"')
JUPYTER_INDENT: Final = " "
"""What Jupyter indents by, and so what a new notebook is indented by."""
_ESCAPED: Final = re.compile(
    rb"(?<!\\)(?:\\\\)*+\\u(?:(?!00[0-7]|[dD][89a-fA-F])[0-9a-fA-F]{4}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])"
)
"""The escape of a character that could stand in the file as it is; half a pair of surrogates could not."""
_LOOKED_AT: Final = 256 * 1024
"""Bytes of the beginning of a file that tell whether it escapes: all of it would take longer than to read it."""


class Style(msgspec.Struct, frozen=True):
    """The layout of one file."""

    indent: str | None = JUPYTER_INDENT
    """What one level is indented by; None where all is on one line."""
    newline: str = "\n"
    comma: str = ","
    """Between two values on one line, with the space that follows it."""
    colon: str = ": "
    ascii: bool = False
    """Whether characters beyond ASCII are escaped."""
    margins: tuple[str, str] | None = None
    """What members of the top level, and cells, are indented by, where that is not one level and two."""

    @classmethod
    def of(cls, data: bytes, at: int = 0) -> "Style":
        """The layout of the file whose object begins here. Only its beginning is looked at."""
        key_start = skip_space(data, at + 1)
        if data[key_start] != _QUOTE:
            return cls()
        _, key_end, start = member_at(data, key_start)
        lead, colon = bytes(data[at + 1 : key_start]), bytes(data[key_end:start]).decode()
        escaped = is_escaped(data[:_LOOKED_AT])
        newline = "\r\n" if b"\r\n" in lead else "\n"
        if b"\n" in lead:
            return cls(lead.rpartition(b"\n")[2].decode(), newline, ",", colon, escaped)
        return cls(None, newline, ", " if colon.endswith(" ") else ",", colon, escaped)

    def as_in(self, lead: Data, cell: Data) -> "Style":
        """The layout that the first cell has, which may be another one than that of the top level."""
        begin = skip_space(cell, 1)
        outer, inner = _margin(lead), _margin(cell[1:begin])
        if self.indent is None or outer is None or inner is None or not inner.startswith(outer):
            return self
        if cell[begin] != _QUOTE:
            return self
        indent = inner.removeprefix(outer)
        margins = None if (self.indent, outer) == (indent, indent * 2) else (self.indent, outer)
        return msgspec.structs.replace(self, indent=indent, margins=margins)

    @property
    def member_margin(self) -> str:
        """What members of the top level are indented by."""
        return self.deeper("") if self.margins is None else self.margins[0]

    @property
    def cell_margin(self) -> str:
        """What cells are indented by."""
        return self.deeper(self.deeper("")) if self.margins is None else self.margins[1]

    def encode(self, value: Any, margin: str = "", *, ascii_only: bool | None = None) -> bytes:
        """A value as this file would have it; its lines but the first are indented by `margin` and more."""
        escaped = self.ascii if ascii_only is None else ascii_only
        if self.indent is None:
            return _dumped(value, escaped, (self.comma, self.colon))
        compact = _dumped(value, escaped, (",", ":"))
        return self._laid_out(compact, value, escaped).replace(b"\n", (self.newline + margin).encode())

    def _laid_out(self, compact: bytes, value: Any, escaped: bool) -> bytes:
        """The JSON of a value on lines of their own. What Python lays out itself takes three times as long."""
        assert self.indent is not None
        if self.colon == ": " and self.indent.strip(" ") == "" and self.indent:
            try:
                return msgspec.json.format(compact, indent=len(self.indent))
            except msgspec.DecodeError:
                pass  # It is stricter than Python's own encoder: NaN, half a pair of surrogates.
        return _dumped(value, escaped, (",", self.colon), self.indent)

    def line(self, margin: str) -> str:
        """What stands between a bracket or a comma and what begins a new line; nothing where all is on one line."""
        return "" if self.indent is None else self.newline + margin

    def deeper(self, margin: str) -> str:
        """The margin one level further in."""
        return margin + (self.indent or "")


def _margin(lead: Data) -> str | None:
    """What a line is indented by, of what stands before its first character; None where that begins no line."""
    _, newline, margin = bytes(lead).rpartition(b"\n")
    return margin.decode() if newline else None


def is_escaped(data: Data) -> bool:
    """Whether a text that has characters beyond ASCII has them escaped."""
    return bytes(data).isascii() and _ESCAPED.search(data) is not None


def _dumped(value: Any, escaped: bool, separators: tuple[str, str], indent: str | None = None) -> bytes:
    text = json.dumps(value, ensure_ascii=escaped, indent=indent, separators=separators, sort_keys=True)
    # Half a pair of surrogates has no UTF-8, but it has an escape, which is the same in Python and in JSON.
    return text.encode("utf-8", "backslashreplace")
