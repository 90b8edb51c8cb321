"""Cells of a journal as they are shown."""

from typing import Any

from pisces.journal.entries import CellEnded, Output, StateChanged
from pisces.journal.history import PastCell
from pisces.journal.notebook_outputs import NotebookOutputs
from pisces.model.cells import CellStatus
from pisces.model.events import Status
from pisces.render.blocks import blocks_of_output
from pisces.render.view import STATES, CellView, Notice


def view_of(cell: PastCell, outputs: list[dict[str, Any]] | None = None) -> CellView:
    """The cell with all that it said; `outputs` are those of a notebook, where somebody has made them already."""
    made = NotebookOutputs().of(cell) if outputs is None else outputs
    blocks = tuple(block for output in made for block in blocks_of_output(output))
    said = [entry.event for entry in cell.said if isinstance(entry, Output)]
    ended = cell.ended
    return CellView(
        code=cell.began.code,
        title=cell.began.title,
        place=_place(ended),
        status=_status(ended),
        began=cell.began.time,
        duration_ms=ended.duration_ms if ended else None,
        outcome=ended.outcome if ended else None,
        exit_code=ended.exit_code if ended else None,
        blocks=blocks,
        status_events=tuple(event for event in said if isinstance(event, Status)),
        artifact_id=ended.artifact_id if ended else None,
        mark="lost" if cell.lost else "",
    )


def notice_of(entry: StateChanged) -> Notice:
    """What became of the state."""
    return Notice(STATES.get(entry.state, "info"), entry.text)


def _place(ended: CellEnded | None) -> str:
    return f"[{ended.execution_count}]" if ended is not None and ended.execution_count is not None else ""


def _status(ended: CellEnded | None) -> CellStatus:
    if ended is None:
        return "running"
    return "complete" if ended.outcome == "ok" else "error"
