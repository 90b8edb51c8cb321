"""The outline of a notebook's file: where its cells are, and what else stands beside them."""

import codecs
import json
from typing import Any, Final

import msgspec

from pisces.errors import InvalidJson, NotebookError
from pisces.notebooks.json_spans import Span, after_comma, elements, member_at, skip_space, skip_value, value_of

_BOM: Final = codecs.BOM_UTF8
_QUOTE: Final = ord('"')
_BLOCK: Final = 1 << 20


class _Cells(msgspec.Struct):
    cells: list[msgspec.Raw]


_quick: Final = msgspec.json.Decoder(_Cells)


class Outline(msgspec.Struct, frozen=True):
    """What a file has at its top level."""

    data: bytes
    start: int
    """Where its object begins."""
    members: dict[str, Span]
    """The values of the top level but for the cells."""
    cells: list[Span] | None
    """The cells; None where there is no list of them."""
    cells_start: int = 0
    """Where that list begins."""

    def value(self, key: str) -> Any:
        """The value of a member of the top level; None where there is none."""
        span = self.members.get(key)
        return None if span is None else value_of(self.data[span.start : span.end])

    def number(self, key: str, default: int) -> int:
        """The same for a number."""
        found = self.value(key)
        return found if isinstance(found, int) else default


def outline_of(data: bytes, path: str) -> Outline:
    """The outline of a file. Raises `NotebookError` for what is no JSON, or no object."""
    start = skip_space(data, len(_BOM) if data.startswith(_BOM) else 0)
    lengths = _lengths_of_cells(data, start, path)
    if data[start : start + 1] != b"{":
        raise NotebookError(f"Invalid notebook structure (missing cells array): {path}")
    outline = None if lengths is None else _walk(data, start, lengths)
    return _walk(data, start, None) or Outline(data, start, {}, None) if outline is None else outline


def _lengths_of_cells(data: bytes, start: int, path: str) -> list[int] | None:
    """How many bytes each cell takes up; None where that has to be found in another way.

    All of the JSON is checked by it. The quick decoder is stricter than Python's own, which accepts what Jupyter may
    have written (NaN, half a pair of surrogates): what it refuses is decided by that one.
    """
    _check_text(data, path)
    try:
        return [memoryview(raw).nbytes for raw in _quick.decode(memoryview(data)[start:]).cells]
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        json.loads(data[start:].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _invalid(path, error) from None
    return None


def _check_text(data: bytes, path: str) -> None:
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _BLOCK):
            decoder.decode(data[at : at + _BLOCK], final=at + _BLOCK >= len(data))
    except UnicodeDecodeError as error:
        raise _invalid(path, error) from None


def _invalid(path: str, error: Exception) -> NotebookError:
    why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return InvalidJson(f"Invalid JSON in notebook: {path}", hint=f"{why[:1].upper()}{why[1:]}.")


def _walk(data: bytes, start: int, lengths: list[int] | None) -> Outline | None:
    """Go through the members of the top level; None when the lengths are not those of the cells found there.

    That is so when there are two lists of cells, of which the last one counts.
    """
    found: dict[str, Span] = {}
    cells: list[Span] | None = None
    cells_start = 0
    at = skip_space(data, start + 1)
    while data[at] == _QUOTE:
        key, _, begin = member_at(data, at)
        if key == "cells" and data[begin : begin + 1] == b"[":
            spans = elements(data, begin) if lengths is None else _known(data, begin, lengths)
            if spans is None:
                return None
            cells, cells_start = spans, begin
            end = skip_space(data, spans[-1].end if spans else begin + 1) + 1
        else:
            end = skip_value(data, begin)
            found[key] = Span(begin, end)
            if key == "cells":
                cells = None
        at = after_comma(data, end)
    return Outline(data, start, found, cells, cells_start)


def _known(data: bytes, begin: int, lengths: list[int]) -> list[Span] | None:
    """The spans of values of these lengths in the array that begins here; None if they are not what is there."""
    spans: list[Span] = []
    at = skip_space(data, begin + 1)
    for length in lengths:
        if at >= len(data) or data[at] in b"]":
            return None
        spans.append(Span(at, at + length))
        at = after_comma(data, at + length) if at + length < len(data) else len(data)
    return spans if data[at : at + 1] == b"]" else None
