"""Cells as sentences and lines alone: for pipes, for screen readers, for whoever wants no signs and no frames."""

from collections.abc import Iterator, Sequence
from typing import Final

from pisces.render.blocks import Block, Code, Formatted, Heading, Image, Markdown, Remark, Tree, Words
from pisces.render.jsontree import tree_text
from pisces.render.look import Variant
from pisces.render.notices import artifact_notice, clean_text
from pisces.render.shown_text import clean_line, one_line
from pisces.render.spans import counted, duration
from pisces.render.status_lines import status_detail, status_lines
from pisces.render.terminal_text import without_control
from pisces.render.traceback_heading import spoken
from pisces.render.view import TITLES, CellView, Notice

_WIDTH: Final = 100
_MOST: Final = {"tool": 10, "own": 20}
_MOST_CODE: Final = {"tool": 12, "own": 20}
_MOST_EXPANDED: Final = 10_000
_WORDS: Final = {
    "ok": "done",
    "error": "failed",
    "timeout": "ran out of time",
    "interrupted": "interrupted",
    "crashed": "crashed",
    "aborted": "cancelled before it began",
    "disconnected": "connection lost, its fate is unknown",
}


def plain_cell(view: CellView, *, expanded: bool = False, variant: Variant = "tool") -> str:
    """A cell in lines, each with its newline: what it is and how it went, its code, and what it said."""
    lines = [plain_heading(view), *_code(view, expanded, variant), *_output(view, expanded, variant)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def plain_notice(notice: Notice) -> str:
    """A notice in lines, each with its newline. What became of the state begins with words in capitals."""
    title = TITLES.get(notice.kind) or {"error": "Error", "cut": "Note", "stopped": "Stopped"}.get(notice.kind, "Note")
    text = clean_text(notice.text)
    return f"{text}\n" if text.startswith(f"{title}: ") else f"{title}: {text}\n"


def plain_heading(view: CellView) -> str:
    """`cell [1/3], Load the data, failed after 1.2 s:`: the words that a screen reader says first."""
    place = one_line(view.place)
    which = place if place.startswith("cell") else f"cell {place.strip('[]')}" if place else "cell"
    took = f" after {duration(view.duration_ms)}" if view.duration_ms is not None else ""
    parts = [which, one_line(view.title), f"{_went(view)}{took}"]
    if view.shown_exit_code is not None:
        parts.append(f"exit code {view.shown_exit_code}")
    parts.append(one_line(view.mark))
    return ", ".join(part for part in parts if part) + ":"


def _went(view: CellView) -> str:
    if view.status in {"pending", "running"}:
        return {"pending": "waiting", "running": "running"}[view.status]
    if view.only_exited:
        return "exited"
    return _WORDS.get(view.outcome or "", "done" if view.status == "complete" else "failed")


def _code(view: CellView, expanded: bool, variant: Variant) -> Iterator[str]:
    lines = view.code.removesuffix("\n").split("\n") if view.code.strip() else []
    most = _MOST_EXPANDED if expanded else _MOST_CODE[variant]
    shown = lines if len(lines) <= most else lines[: most - 1]
    prompt, further = (">>> ", "... ") if variant == "own" and view.language == "python" else ("    ", "    ")
    for number, line in enumerate(shown):
        yield f"{further if number else prompt}{clean_line(line, coloured=False)}"
    if len(shown) < len(lines):
        yield f"    ({counted(len(lines) - len(shown), 'more line')} of code)"


def _output(view: CellView, expanded: bool, variant: Variant) -> Iterator[str]:
    lines = [line for block in view.blocks for line in _lines(block, expanded)]
    most = _MOST_EXPANDED if expanded else _MOST[variant]
    yield from _collapsed(lines, most, newest=view.status == "running", cut=view.artifact_id is not None)
    earlier, said = status_lines(view.status_events, 10 if expanded else 3)
    if earlier:
        yield f"({counted(earlier, 'earlier event')})"
    for event, line in zip(view.status_events[earlier:], said, strict=True):
        yield line
        if expanded:
            yield from (f"    {row}" for row in status_detail(event))
    for notice in view.notices:
        yield from plain_notice(notice).splitlines()
    if view.artifact_id and not any(f"artifact://{view.artifact_id}" in notice.text for notice in view.notices):
        yield from plain_notice(artifact_notice(view.artifact_id)).splitlines()


def _collapsed(lines: Sequence[str], most: int, *, newest: bool, cut: bool) -> Iterator[str]:
    """As in `collapsing`: the newest lines of a cell that runs, else the first and the last. Only these are cleaned."""
    if len(lines) <= most:
        yield from map(_clean, lines)
        return
    head = 0 if newest else max(1, most * 3 // 10)
    yield from map(_clean, lines[:head])
    yield f"({'at least ' if cut else ''}{counted(len(lines) - most, 'more line')})"
    yield from map(_clean, lines[len(lines) - (most - head) :])


def _clean(line: str) -> str:
    return clean_line(line, coloured=False)


def _lines(block: Block, expanded: bool) -> list[str]:
    """The lines of a block as they came."""
    text = _text(block, expanded)
    return text.removesuffix("\n").split("\n") if text else []


def _text(block: Block, expanded: bool) -> str:
    match block:
        case Formatted() if not block.fits(_WIDTH):
            return block.unformatted
        case Tree():
            return tree_text(block.value, expanded=expanded)
        case Image():
            return f"Picture: {block.mime_type}, {block.width} by {block.height} pixels"
        case Heading():
            return ", ".join((f"cell {block.index}", *block.facts))
        case Words(kind="error"):
            return spoken(without_control(block.text))
        case Words() | Formatted() | Remark() | Code() | Markdown():
            return block.text
