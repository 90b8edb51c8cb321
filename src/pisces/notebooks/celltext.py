"""The text of a notebook that people and agents edit: each cell below a marker, and the cells that such a text has.

Pure text: what becomes of the cells of a file is in `cell_view`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, cast

import msgspec

from pisces.errors import NotebookError
from pisces.notebooks.cell import CELL_TYPES, CellType

_TYPE: Final = rf"\[(?:{'|'.join(CELL_TYPES)})\]"
_MARKER: Final = re.compile(rf"# %% \[({'|'.join(CELL_TYPES)})\](?: cell:([0-9]+))?[ \t\r]*")
_LIKE_MARKER: Final = re.compile(rf"^# %% {_TYPE}[^\n]*", re.MULTILINE)
_TO_ESCAPE: Final = re.compile(rf"^# (?=%%+ {_TYPE})", re.MULTILINE)
_ESCAPED: Final = re.compile(rf"^# %(?=%%+ {_TYPE})", re.MULTILINE)
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_FORM: Final = f"# %% [{'|'.join(CELL_TYPES)}] cell:N"
_DIGITS: Final = 18
"""No notebook has so many cells that their number needs more, and Python refuses to read numbers without end."""
_QUOTED: Final = 100


class TextCell(msgspec.Struct, frozen=True):
    """One cell of a text."""

    cell_type: CellType
    index: int | None
    """The number in its marker; None where that has none."""
    source: str
    line: int
    """The line of its marker, from 1."""


def to_text(cells: Iterable[tuple[CellType, str]]) -> str:
    """The text of these cells, each a type and a source. No cells are an empty text."""
    return "".join(
        f"# %% [{cell_type}] cell:{number}\n{_TO_ESCAPE.sub('# %', showable(source))}\n"
        for number, (cell_type, source) in enumerate(cells)
    )


def from_text(text: str, path: str) -> list[TextCell]:
    """The cells of a text; `path` is for errors.

    Raises `NotebookError` when the first line is no marker, and for a line that begins like one and is none.
    """
    return list(_cells(text.replace("\r\n", "\n") if has_crlf(text) else text, path))


def has_crlf(text: str) -> bool:
    """Whether the lines of a text end in CRLF, as its first one does. They never do in a text of ours."""
    return text.partition("\n")[0].endswith("\r")


def showable(source: str) -> str:
    """A source as text that can be sent: half a pair of surrogates has no UTF-8, and one character is in its place."""
    return source if source.isascii() else _HALF_PAIR.sub("\ufffd", source)


def _cells(text: str, path: str) -> Iterator[TextCell]:
    if not text:
        return
    found = list(_LIKE_MARKER.finditer(text))
    if not found or found[0].start() > 0 or _MARKER.fullmatch(found[0][0]) is None:
        raise _no_first_marker(text.partition("\n")[0], path)
    line, counted = 1, 0
    # The newline before a marker, and the last one, is no part of the source.
    ends = [*(each.start() - 1 for each in found[1:]), len(text) - text.endswith("\n")]
    for marker, end in zip(found, ends, strict=True):
        line += text.count("\n", counted, marker.start())
        counted = marker.start()
        parts = _MARKER.fullmatch(marker[0])
        if parts is None:
            raise _no_marker(line, marker[0], path)
        source = _ESCAPED.sub("# ", text[marker.end() + 1 : end])
        yield TextCell(cast("CellType", parts[1]), _number(parts[2]), source, line)


def _number(digits: str | None) -> int | None:
    return int(digits) if digits is not None and len(digits) <= _DIGITS else None


def _no_first_marker(line: str, path: str) -> NotebookError:
    return NotebookError(
        f"Invalid notebook editable representation for {path}: "
        f"expected first line to be `{_FORM}`, got {_quoted(line)}",
        hint="Each cell begins with such a line, and nothing stands before the first; a new cell needs no ` cell:N`.",
    )


def _no_marker(number: int, line: str, path: str) -> NotebookError:
    return NotebookError(
        f"Invalid notebook editable representation for {path}: "
        f"line {number} begins like a marker but is none: {_quoted(line)}",
        hint=f"A marker is `{_FORM}`, or that without ` cell:N`. As a line of a source it has one more percent sign: "
        f"{_quoted(line.replace('# %%', '# %%%', 1))}.",
    )


def _quoted(line: str) -> str:
    return repr(line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…")
