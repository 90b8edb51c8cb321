"""Rows of a screen: pieces of text with styles, none wider than the room there is."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, get_character_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style

from pisces.render.look import Look

Row = tuple[Segment, ...]

_ASCII: Final = str.maketrans(
    {
        **dict.fromkeys("│┃", "|"),
        **dict.fromkeys("─━╌", "-"),
        **dict.fromkeys("╭╰├└┏┗", "+"),
        "✓": "+", "✗": "x", "○": "o", "·": "-", "▀": "#", "⚠": "!", "→": ">", "…": "~",
        **dict.fromkeys("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "*"),
    }
)  # fmt: skip
"""What our own signs are where only ASCII can be shown: each as wide as it was."""
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


class Rows:
    """Rows that are made already, as something that rich can print."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self.rows:
            yield from row
            yield Segment.line()

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = max(map(width_of, self.rows), default=0)
        return Measurement(width, width)


def width_of(row: Iterable[Segment]) -> int:
    """How many columns a row takes."""
    return sum(cell_len(segment.text) for segment in row)


def fold(line: Sequence[Segment], width: int, most: int | None = None) -> list[Row]:
    """A line in rows of so many columns; at most so many rows are made."""
    if sum(len(segment.text) for segment in line) <= width and all(segment.text.isascii() for segment in line):
        return [tuple(line)]
    rows: list[Row] = []
    row: list[Segment] = []
    used = 0
    for segment in line:
        for piece, begins_row in _broken(segment.text, width, used):
            if begins_row:
                rows.append(tuple(row))
                if most is not None and len(rows) >= most:
                    return rows
                row, used = [], 0
            row.append(Segment(piece, segment.style))
            used += cell_len(piece)
    return [*rows, tuple(row)]


def _broken(text: str, width: int, used: int) -> Iterator[tuple[str, bool]]:
    """The text in pieces that fit into a row, the first behind what is in its own; and whether each begins a row."""
    at, begins_row = 0, False
    while at < len(text):
        fitting = _fitting(text, width - used, at)
        if fitting == at:
            if used:
                used, begins_row = 0, True
                continue
            yield "?", begins_row  # Not even a row of its own has room for it.
            fitting = at + 1
        else:
            yield text[at:fitting], begins_row
        at, used, begins_row = fitting, 0, True


def cropped(text: str, width: int) -> str:
    """A text on one row; where it is cut it ends in `…`."""
    if cell_len(text) <= width:
        return text
    return text[: _fitting(text, max(0, width - 1))] + "…" if width > 0 else ""


def wrapped(text: str, width: int) -> Iterator[str]:
    """A sentence in rows, broken between words where that is possible."""
    for line in text.split("\n"):
        row = ""
        for word in line.split(" "):
            joined = f"{row} {word}" if row else word
            if cell_len(joined) <= width:
                row = joined
                continue
            if row:
                yield row
            *pieces, row = [piece for piece, _ in _broken(word, width, 0)] or [""]
            yield from pieces
        yield row


def finished(rows: Iterable[Row], look: Look, width: int) -> tuple[Row, ...]:
    """The rows as this look has them: without colours, or in ASCII, where that is asked for; none wider than this."""
    fitting = (row if width_of(row) <= width else fold(row, width, 1)[0] for row in rows)
    if look.coloured and not look.ascii:
        return tuple(fitting)
    return tuple(tuple(_as_asked(segment, look) for segment in row) for row in fitting)


def with_ascii_signs(text: str) -> str:
    """Text in which our own signs have others in their place, for terminals that lack them."""
    return text.translate(_ASCII)


def _as_asked(segment: Segment, look: Look) -> Segment:
    text, style = segment.text, segment.style
    if look.ascii and not text.isascii():
        text = _NOT_ASCII.sub(_as_wide, with_ascii_signs(text))
    return Segment(text, style if style is None or look.coloured else _colourless(style))


@lru_cache(maxsize=512)
def _colourless(style: Style) -> Style:
    return style.without_color


def _fitting(text: str, width: int, start: int = 0) -> int:
    """Where the text ends that goes into so many columns."""
    if text.isascii():
        return min(len(text), start + max(0, width))
    used = 0
    for at in range(start, len(text)):
        used += get_character_cell_size(text[at])
        if used > width:
            return at
    return len(text)


def _as_wide(found: re.Match[str]) -> str:
    """What stands for a character that is not ASCII, as wide as that is: nothing for an accent."""
    return "?" * get_character_cell_size(found[0])
