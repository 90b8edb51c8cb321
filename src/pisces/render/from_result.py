"""Results of tools as they are shown: the cells that were run, and what is to be said of the call."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from pisces.model.cells import CellRecord
from pisces.model.mime import SVG
from pisces.model.notebooks import NotebookRunDetails
from pisces.model.results import Details, ImageOutput, Outcome, ToolResult, Truncation
from pisces.render.blocks import Block, Remark, Tree, Words, blocks_of_output
from pisces.render.spans import counted
from pisces.render.view import STATES, CellView, Notice

_STATE: Final = re.compile(r"\[State: (\w+)\] ?")
_STOPPED: Final = re.compile(r"Command (timed out|was interrupted|was cancelled)")
_FAILED: Final = re.compile(r"Command exited with code|Cell \d+ (failed|was not run)|\d+ cells failed|Error: ")
_EXITED: Final = re.compile(r"Command exited with code \d+$")
"""What the heading of the cell says already."""
_TRACEBACK: Final = re.compile(r"^(Traceback \(most recent call last\)|-{20,}$)", re.MULTILINE)
_LANGUAGES: Final = {"": "python", "py": "python"}


class CallView(msgspec.Struct, frozen=True):
    """A call: its cells, and what is to be said of all of it."""

    cells: tuple[CellView, ...] = ()
    notices: tuple[Notice, ...] = ()


def views_of(result: ToolResult, *, language: str = "") -> CallView:
    """The result of `python`, `eval`, `bash` or a run of a notebook; its details may be a dictionary, as from JSON.

    `language` is that of cells which do not tell it. A call that was refused, and the result of any other tool, has no
    cells: its text is the notice.
    """
    details = details_of(result.details)
    if details is None:
        return CallView(notices=(Notice("error" if result.is_error else "info", result.text),) if result.text else ())
    cells = [_view(record, len(details.cells), language, details.outcome) for record in details.cells]
    _add_pictures(cells, details)
    return CallView(tuple(cells), tuple(_notices(details, bool(cells))))


def details_of(details: Any) -> Details | None:
    """The details of a call that ran cells; None of any other."""
    if isinstance(details, Details):
        return details
    if not isinstance(details, dict) or "outcome" not in details:
        return None
    try:
        return msgspec.convert(details, NotebookRunDetails if "notebook_path" in details else Details)
    except msgspec.ValidationError:
        return None


def _view(record: CellRecord, total: int, language: str, outcome: Outcome | None) -> CellView:
    return CellView(
        code=record.code,
        language=_language(record.language or language),
        title=record.title,
        place=record.label or (f"[{record.index + 1}/{total}]" if total > 1 else ""),
        status=record.status,
        duration_ms=record.duration_ms,
        outcome=_outcome(record, outcome),
        exit_code=record.exit_code,
        blocks=tuple(_text(record)),
        status_events=tuple(record.status_events),
    )


def _language(asked: str) -> str:
    return _LANGUAGES.get(asked, asked)


def _outcome(record: CellRecord, outcome: Outcome | None) -> Outcome | None:
    if record.status == "complete":
        return "ok"
    if record.status == "error":
        return outcome if outcome not in {None, "ok"} else "error"
    return None


def _text(record: CellRecord) -> Iterator[Block]:
    """The text of a cell; of one that failed, the traceback in it by itself."""
    text = record.output  # Markdown in it stays as it is written: what was printed beside it must not be laid out.
    found = list(_TRACEBACK.finditer(text)) if record.status == "error" else []
    at = found[-1].start() if found else len(text)
    if said := text[:at]:
        yield Words(said, "stdout")
    if raised := text[at:]:
        yield Words(raised, "error")


def _add_pictures(cells: list[CellView], details: Details) -> None:
    """What was displayed besides text: pictures where they belong, and JSON with the last cell that ran."""
    for image in details.images:
        place = next((at for at, record in enumerate(details.cells) if record.index == image.cell), None)
        if place is not None:
            cells[place] = _with(cells[place], _picture(image))
    ran = [at for at, record in enumerate(details.cells) if record.status != "pending"]
    if ran:
        cells[ran[-1]] = _with(cells[ran[-1]], (Tree(value) for value in details.json_outputs))


def _with(view: CellView, blocks: Iterable[Block]) -> CellView:
    return msgspec.structs.replace(view, blocks=(*view.blocks, *blocks))


def _picture(image: ImageOutput) -> Iterator[Block]:
    if image.data and image.mime_type != SVG:
        return blocks_of_output({"output_type": "display_data", "data": {image.mime_type: image.data}})
    where = f": artifact://{image.artifact_id}" if image.artifact_id else ""
    return iter([Remark(f"[{image.mime_type}{where}]")])


def _notices(details: Details, has_cells: bool) -> Iterator[Notice]:
    told = (text for text in details.notices if not (has_cells and _EXITED.match(text)))
    said = [notice_from(text, has_cells=has_cells) for text in told]
    kinds = {notice.kind for notice in said}
    if details.outcome == "crashed" and not kinds & STATES.keys():
        yield Notice("crashed", "The kernel ended under the cell.")
    state = details.kernel.state if details.kernel is not None else "kept"
    if state != "kept" and state not in kinds:
        yield Notice(STATES[state], _STATE_WORDS[state])
    yield from said
    if details.truncation is not None or details.artifact_id:
        yield Notice("cut", cut_text(details.truncation, details.artifact_id))


_STATE_WORDS: Final = {
    "restored": "The kernel had ended. Its state is back.",
    "lost": "The kernel is a fresh one: what earlier cells had made is gone.",
    "unknown": "What the kernel knows is not known.",
}


def notice_from(text: str, *, has_cells: bool = True) -> Notice:
    """One of the sentences of a result, and what it is about."""
    if state := _STATE.match(text):
        return Notice(STATES.get(state[1], "info"), text[state.end() :])
    if _STOPPED.match(text):
        return Notice("stopped", text)
    return Notice("error" if _FAILED.match(text) or not has_cells else "info", text)


def cut_text(truncation: Truncation | None, artifact_id: str | None) -> str:
    """How much of an output is shown, and where all of it is."""
    parts: list[str] = []
    if truncation is not None:
        parts.append(f"Showing {truncation.shown_lines:,} of {counted(truncation.total_lines, 'line')}.")
    parts.append(f"All of it: artifact://{artifact_id}" if artifact_id else "The rest was not kept.")
    return " ".join(parts)
