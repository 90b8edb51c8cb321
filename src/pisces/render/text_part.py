"""Output that is text, of which only the lines that are shown are ever looked at."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rich.ansi import AnsiDecoder
from rich.segment import Segment
from rich.style import Style

from pisces.render.blocks import Words
from pisces.render.look import Look
from pisces.render.palette import BAD, BAD_BOLD, BUSY, DIM
from pisces.render.rows import Row, fold
from pisces.render.shown_text import clean_line
from pisces.render.terminal_text import LONGEST_LINE
from pisces.render.traceback_heading import BEGINNING, narrowed

MOST_ROWS: Final = 10_000
"""Rows of one cell, even if all of it is wanted: whoever wants more has the artifact and a pager for it."""
LONGEST_EXPANDED: Final = 100_000

_FRAME: Final = re.compile(r'(\s*File )(".*?", line \d+)(.*)')
_RAISED: Final = re.compile(r"([A-Za-z_][\w.]*)(: .*|:)?$")
_MARKER: Final = re.compile(r"\s*[~^]+\s*$")
_PLACE: Final = re.compile(r"Cell In\[\d+\].*|File .*:\d+.*")
_ARROW: Final = re.compile(r"-+> \d+ ")
_HIDING: Final = Style(blink=False, blink2=False, conceal=False)


class TextPart:
    """One output that is text."""

    def __init__(self, block: Words, look: Look, width: int) -> None:
        self._text = block.text.removesuffix("\n")
        self._style = BAD if block.kind == "stderr" else None
        self._is_error = block.kind == "error"
        self._traceback = self._is_error and "\x1b" not in block.text
        self._width = width
        self._coloured = look.coloured
        whole = look.expanded and look.variant == "tool"
        self._most = LONGEST_EXPANDED if whole else LONGEST_LINE
        self.count = self._text.count("\n") + 1

    def first(self, most: int) -> Iterator[list[Row]]:
        """The first lines, each in rows."""
        end = -1
        for _ in range(most):
            end = self._text.find("\n", end + 1)
            if end < 0:
                return self._rows(self._text.split("\n"))
        return self._rows(self._text[:end].split("\n"))

    def last(self, most: int) -> Iterator[list[Row]]:
        """The last lines, each in rows, from the last one up."""
        start = len(self._text)
        for _ in range(most):
            start = self._text.rfind("\n", 0, start)
            if start < 0:
                break
        return reversed(list(self._rows(self._text[start + 1 :].split("\n"))))

    def _rows(self, lines: Iterable[str]) -> Iterator[list[Row]]:
        decoder = AnsiDecoder()
        for raw in lines:
            line = clean_line(raw, coloured=self._coloured, most=self._most)
            if self._is_error:
                line = narrowed(line, self._width)
            yield fold(self._decoded(line, decoder), self._width, MOST_ROWS)

    def _decoded(self, line: str, decoder: AnsiDecoder) -> list[Segment]:
        if "\x1b" in line or decoder.style:
            return list(_coloured(line, decoder, self._style))
        return _traceback_line(line) if self._traceback else [Segment(line, self._style)]


def _coloured(line: str, decoder: AnsiDecoder, style: Style | None) -> Iterator[Segment]:
    """The pieces of a line with the colours that it asks for; text that asks to be hidden is shown."""
    text = decoder.decode_line(line)
    at = 0
    for span in text.spans:
        if span.start > at:
            yield Segment(text.plain[at : span.start], style)
        asked = span.style if isinstance(span.style, Style) else Style()
        yield Segment(text.plain[span.start : span.end], (style + asked if style else asked) + _HIDING)
        at = span.end
    yield Segment(text.plain[at:], style)


def _traceback_line(line: str) -> list[Segment]:
    if _PLACE.match(line):
        return [Segment(line, BUSY)]
    if line.startswith(BEGINNING) or (not line[:1].isspace() and _RAISED.match(line)):
        name, colon, rest = line.partition(":")
        return [Segment(name, BAD_BOLD), Segment(colon + rest)]
    if arrow := _ARROW.match(line):
        return [Segment(arrow[0], BAD), Segment(line[arrow.end() :])]
    if frame := _FRAME.match(line):
        return [Segment(frame[1], DIM), Segment(frame[2], BUSY), Segment(frame[3])]
    return [Segment(line, BAD if _MARKER.match(line) else None)]
