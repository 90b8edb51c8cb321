"""The notebook tool's calls as they are shown: what was done to which cell, and its source."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

import msgspec
from rich.segment import Segment

from pisces.model.notebooks import NotebookDetails
from pisces.model.results import ToolResult
from pisces.render.code import code_lines
from pisces.render.look import Look
from pisces.render.notices import artifact_notice, notice_rows
from pisces.render.palette import BAD, BOLD, DIM, GOOD
from pisces.render.rich_part import markdown_rows
from pisces.render.rows import Row, Rows, cropped, finished, fold, width_of
from pisces.render.shown_text import one_line
from pisces.render.spans import counted, more_lines
from pisces.render.view import Notice

MOST_AT_AN_END: Final = 3
"""Rows of a source from its beginning, and as many from its end, unless all is wanted."""
_NARROWEST: Final = 8
_ROWS_EXPANDED: Final = 2000
_DONE: Final = {
    "edit": "Edited",
    "insert": "Inserted",
    "delete": "Deleted",
    "read": "Read",
    "move": "Moved",
    "clear": "Cleared",
    "run": "Ran",
    "run_all": "Ran all of",
    "run_until": "Ran up to",
}


def notebook_details_of(details: Any) -> NotebookDetails | None:
    """The details of a call that ran nothing, which may be a dictionary, as from JSON; None of any other call."""
    if isinstance(details, NotebookDetails):
        return details
    if not isinstance(details, dict) or "notebook_path" not in details or "outcome" in details:
        return None
    try:
        return msgspec.convert(details, NotebookDetails)
    except msgspec.ValidationError:
        return None


def notebook_block(
    result: ToolResult, look: Look, *, action: str = "", path: str = "", language: str = "python"
) -> Rows:
    """A call of the notebook tool that ran no cells. `action` and `path` are what was asked, for one that failed."""
    width = max(_NARROWEST, look.width)
    details = None if result.is_error else notebook_details_of(result.details)
    rows = _failed(result, action, path, width) if details is None else _done(details, look, language, width)
    return Rows(finished(rows, look, width))


def _failed(result: ToolResult, action: str, path: str, width: int) -> Iterator[Row]:
    bad = result.is_error
    said = f"notebook {one_line(action)} {one_line(path)}".rstrip()
    yield (Segment("✗ " if bad else "✓ ", BAD if bad else GOOD), Segment(cropped(said, width - 2), BOLD))
    yield from notice_rows(Notice("error" if bad else "info", result.text), width)


def _done(details: NotebookDetails, look: Look, language: str, width: int) -> Iterator[Row]:
    yield _heading(details, width)
    bar = Segment("│ ", GOOD)
    for row in _source(details, look, language, width - 2):
        yield (bar, *row)
    if details.stale_outputs:
        yield from _barred(bar, Notice("info", "Its outputs are those of the source before."), width)
    if details.artifact_id:
        yield from _barred(bar, artifact_notice(details.artifact_id), width)
    yield (Segment("╰──", GOOD), Segment(cropped(f" {counted(details.total_cells, 'cell')}", width - 3), DIM))


def _barred(bar: Segment, notice: Notice, width: int) -> Iterator[Row]:
    return ((bar, *row) for row in notice_rows(notice, width - 2))


def _heading(details: NotebookDetails, width: int) -> Row:
    which = f" cell {details.cell_index}" if details.cell_index is not None else ""
    kind = f" ({one_line(details.cell_type)})" if details.cell_type else ""
    row = [
        Segment("╭─ ", GOOD),
        Segment("✓ ", GOOD),
        Segment(cropped(f"{_DONE[details.action]}{which}{kind}", width - 5), BOLD),
    ]
    room = width - width_of(row)
    name = one_line(
        PurePath(details.notebook_path).name if room < len(details.notebook_path) + 3 else details.notebook_path
    )
    if room > 8:
        row.append(Segment(f" · {cropped(name, room - 3)}", DIM))
    return tuple(row)


def _source(details: NotebookDetails, look: Look, language: str, width: int) -> list[Row]:
    rows = list(_source_rows(details, look, language, width))
    most = _ROWS_EXPANDED // 2 if look.expanded else MOST_AT_AN_END
    if len(rows) <= 2 * most:
        return rows
    hidden = (Segment(more_lines(len(rows) - 2 * most), DIM),)
    return [*rows[:most], hidden, *rows[-most:]]


def _source_rows(details: NotebookDetails, look: Look, language: str, width: int) -> Iterator[Row]:
    if details.cell_source is not None:
        yield from _rows_of(details.cell_source, details.cell_type, look, language, width)
    for cell in details.cells:
        said = f"cell {cell.cell_index} ({one_line(cell.cell_type)})"
        yield (Segment(cropped(said, width), DIM),)
        yield from _rows_of(cell.cell_source, cell.cell_type, look, language, width)


def _rows_of(source: str, kind: str | None, look: Look, language: str, width: int) -> list[Row]:
    if not source:
        return []
    if kind == "markdown":
        return markdown_rows(source, look, width)
    lines = code_lines(source, language if kind == "code" else "", dark=look.dark, coloured=look.coloured)
    return [row for line in lines for row in fold(line, width)]
