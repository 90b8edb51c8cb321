"""What has to be said beside the output. What became of the state is said so that nobody can overlook it."""

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from pisces.render.palette import BAD, BAD_BOLD, DIM, GOOD, WARNING
from pisces.render.rows import Row, cropped, wrapped
from pisces.render.shown_text import clean_line
from pisces.render.view import TITLES, Notice

_FRAMED: Final = {"restored": GOOD, "lost": BAD, "unknown": WARNING, "crashed": BAD}
_STYLES: Final = {"stopped": WARNING, "cut": WARNING, "error": BAD_BOLD, "info": DIM}
_SIGNS: Final = {"stopped": "⚠ ", "cut": "⚠ ", "error": "✗ ", "info": "· "}
_MOST_LINES: Final = 40


def notice_rows(notice: Notice, width: int) -> Iterator[Row]:
    """A notice in rows of so many columns."""
    text = clean_text(notice.text)
    if notice.kind in TITLES:
        return _framed(TITLES[notice.kind], text, _FRAMED[notice.kind], width)
    return _signed(_SIGNS[notice.kind], text, _STYLES[notice.kind], width)


def clean_text(text: str) -> str:
    """The text of a notice, which may tell of names and errors of others."""
    lines = text.strip().split("\n")
    more = len(lines) - _MOST_LINES
    shown = [clean_line(line, coloured=False) for line in lines[:_MOST_LINES]]
    return "\n".join([*shown, f"… {more} more lines"] if more > 0 else shown)


def artifact_notice(artifact_id: str) -> Notice:
    """Where the whole of an output is that was cut."""
    return Notice("cut", f"Output was cut. All of it: artifact://{artifact_id}")


def _framed(title: str, text: str, style: Style, width: int) -> Iterator[Row]:
    label = cropped(f" {title} ", max(1, width - 2))
    rest = max(0, width - 2 - cell_len(label))
    yield (Segment("┏━", style), Segment(label, style + Style(bold=True, reverse=True)), Segment("━" * rest, style))
    for row in wrapped(text, max(1, width - 2)):
        yield (Segment("┃ ", style), Segment(row, Style(bold=True)))
    yield (Segment("┗" + "━" * max(0, width - 1), style),)


def _signed(sign: str, text: str, style: Style, width: int) -> Iterator[Row]:
    lead = sign
    for row in wrapped(text, max(1, width - cell_len(sign))):
        yield (Segment(lead, style), Segment(row, style))
        lead = " " * cell_len(sign)
