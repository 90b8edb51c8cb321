"""What the result of a call from here has to say that nothing else tells."""

import msgspec

from pisces.journal.entries import CellEnded
from pisces.model.results import Details, ToolResult
from pisces.render.blocks import Block, Words
from pisces.render.from_result import details_of, notice_from, views_of
from pisces.render.view import STATES, CellView, Notice
from pisces.tui.desk.items import CellItem
from pisces.tui.desk.timeline import Expected, Timeline


def tell_result(result: ToolResult, timeline: Timeline) -> None:
    """Say it in the timeline: refusals, jobs, remarks. What the cell's own block tells, or the journal, is not said."""
    details = result.details
    if not isinstance(details, Details) or (
        result.is_error and all(cell.status == "pending" for cell in details.cells)
    ):
        if result.is_error:
            timeline.say(notice_from(result.text, has_cells=False))
        return
    if details.job is not None:
        timeline.say(Notice("info", f"{details.job.id} runs in the background; the session is busy until it is over."))
    for text in details.notices:
        if details.job is not None and text.startswith(details.job.id):
            continue
        _tell(text, timeline)


def tell_untold(result: ToolResult, timeline: Timeline, expected: Expected) -> None:
    """Show the cell as its result has it, if its journal has not told of it: the disk is full, or the file is gone."""
    for view in views_of(result).cells:
        if view.code.strip() and view.status != "pending":
            timeline.tell_instead(expected, view)


def finished_command(view: CellView, result: ToolResult) -> CellView:
    """A command of the shell that has run."""
    details = details_of(result.details)
    record = next(iter(details.cells), None) if details is not None else None
    if details is None or record is None:
        status, output = ("error" if result.is_error else "complete"), result.text
        return msgspec.structs.replace(view, status=status, outcome=None, blocks=_words(output))
    remarks = tuple(Notice("info", text) for text in details.notices if not text.startswith("Command "))
    return msgspec.structs.replace(
        view,
        status="error" if details.is_error else "complete",
        outcome=details.outcome,
        exit_code=record.exit_code,
        duration_ms=record.duration_ms,
        artifact_id=details.artifact_id,
        blocks=_words(record.output),
        notices=remarks,
    )


def _tell(text: str, timeline: Timeline) -> None:
    if text.startswith(("Command ", "Not kept: ")):
        return  # How the cell ended, which its own heading says; and what a result cannot hold, but a journal can.
    notice = notice_from(text)
    if notice.kind in STATES.values():
        timeline.say_once(notice)
    elif text not in _last_words(timeline):
        timeline.say_once(Notice("info", text))


def _last_words(timeline: Timeline) -> str:
    """What is known of the death of the last cell's kernel: its block shows it."""
    for item in reversed(timeline.items):
        if isinstance(item, CellItem):
            ended: CellEnded | None = item.ended
            return ended.process_exit.detail if ended is not None and ended.process_exit is not None else ""
    return ""


def _words(text: str) -> tuple[Block, ...]:
    return (Words(text, "stdout"),) if text else ()
