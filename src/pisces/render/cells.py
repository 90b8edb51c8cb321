"""Cells as rows: a heading with the status, the code, and as much of the output as is wanted.

`cell_block` and `notice_block` are for rich; `drawn.lines_of` keeps the same rows for whoever scrolls them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.segment import Segment

from pisces.render.code import code_lines
from pisces.render.collapsing import collapsed
from pisces.render.heading import heading_row
from pisces.render.look import Look
from pisces.render.notices import artifact_notice, notice_rows
from pisces.render.outputs import parts_of
from pisces.render.palette import BAD, BY_STATUS, DIM, PROMPT
from pisces.render.rich_part import MOST_LAID_OUT, markdown_rows
from pisces.render.rows import Row, Rows, cropped, finished, fold, wrapped
from pisces.render.spans import more_lines
from pisces.render.status_lines import status_detail, status_lines
from pisces.render.text_part import MOST_ROWS
from pisces.render.view import CellView, Notice

MOST_LINES: Final = {"tool": 10, "own": 20}
"""Rows of output unless all is wanted."""
MOST_CODE: Final = {"tool": 12, "own": 20}
"""Rows of code unless all is wanted."""
MOST_EVENTS: Final = 3
MOST_EVENTS_EXPANDED: Final = 10
_PROMPTS: Final = {"bash": ("! ", "  "), "markdown": ("", "")}
NARROWEST: Final = 8
"""Columns below which nothing is laid out any more: what is wider then is cut by whoever shows it."""


def cell_block(view: CellView, look: Look) -> Rows:
    """The whole of a cell."""
    return Rows(cell_rows(view, look))


def notice_block(notice: Notice, look: Look) -> Rows:
    """A notice by itself."""
    width = max(NARROWEST, look.width)
    return Rows(finished(notice_rows(notice, width), look, width))


def cell_rows(view: CellView, look: Look) -> tuple[Row, ...]:
    """The rows of a cell, none wider than the look."""
    width = max(NARROWEST, look.width)
    rows = _own(view, look, width) if look.variant == "own" else _block(view, look, width)
    return finished(rows, look, width)


def _block(view: CellView, look: Look, width: int) -> Iterator[Row]:
    """A tool's cell: a bar in the colour of its status holds together what belongs to it."""
    style = BY_STATUS[view.status]
    bar = Segment("│ ", style)
    yield heading_row(view, look, ruled=True)
    yield from ((bar, *row) for row in _code(view, look, width - 2))
    output = list(_output(view, look, width - 2))
    if output:
        yield (Segment("├──", style),)
    yield from ((bar, *row) for row in output)
    yield (Segment("╰──", style),)


def _own(view: CellView, look: Look, width: int) -> Iterator[Row]:
    """A person's own cell, as an interpreter shows it."""
    yield heading_row(view, look, ruled=False)
    prompt, further = _PROMPTS.get(view.language, (">>> ", "... "))
    for row in _code(view, look, width - len(prompt)):
        yield (Segment(prompt, PROMPT), *row)
        prompt = further
    yield from _output(view, look, width)


def _code(view: CellView, look: Look, width: int) -> list[Row]:
    if not view.code.strip():
        return []
    if view.language == "markdown" and len(view.code) <= MOST_LAID_OUT:
        rows = markdown_rows(view.code, look, width)
    else:
        # What is not shown is not coloured either.
        most = MOST_ROWS if look.expanded else MOST_CODE[look.variant]
        head = view.code.removesuffix("\n").split("\n", most + 1)[: most + 1]
        shown = "\n".join(head if look.expanded else (line[: (most + 1) * width] for line in head))
        lines = code_lines(shown, view.language, dark=look.dark, coloured=look.coloured)
        rows = [row for line in lines for row in fold(line, width, MOST_ROWS)]
    return _first(rows, view.code, look)


def _first(rows: list[Row], code: str, look: Look) -> list[Row]:
    most = MOST_ROWS if look.expanded else MOST_CODE[look.variant]
    if len(rows) <= most:
        return rows
    lines = code.removesuffix("\n").count("\n") + 1
    return [*rows[: most - 1], (Segment(more_lines(max(1, lines - most + 1)), DIM),)]


def _output(view: CellView, look: Look, width: int) -> Iterator[Row]:
    most = MOST_ROWS if look.expanded else MOST_LINES[look.variant]
    cut, newest = view.artifact_id is not None, view.status == "running"
    yield from collapsed(parts_of(view.blocks, look, width), most, newest=newest, cut=cut)
    yield from _events(view, look, width)
    for notice in _notices(view):
        yield from notice_rows(notice, width)


def _events(view: CellView, look: Look, width: int) -> Iterator[Row]:
    earlier, lines = status_lines(view.status_events, MOST_EVENTS_EXPANDED if look.expanded else MOST_EVENTS)
    if earlier:
        yield (Segment(f"… {earlier} earlier", DIM),)
    for line, event in zip(lines, view.status_events[earlier:], strict=True):
        style = BAD if event.data.get("error") else DIM
        rows = wrapped(line, width - 2) if look.expanded else (cropped(line, width - 2),)
        for number, row in enumerate(rows):
            yield (Segment("  " if number else "· ", style), Segment(row, style))
        if look.expanded:
            yield from ((Segment("    ", DIM), Segment(cropped(row, width - 4), DIM)) for row in status_detail(event))


def _notices(view: CellView) -> Iterable[Notice]:
    yield from view.notices
    if view.artifact_id and not any(f"artifact://{view.artifact_id}" in notice.text for notice in view.notices):
        yield artifact_notice(view.artifact_id)
