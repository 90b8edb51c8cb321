"""What differs between two notebooks, cell by cell, and that as text. No file is read here."""

import difflib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from pisces.notebooks.compare_matching import match_cells, stays

Kind = Literal["added", "removed", "moved", "changed"]

_CONTEXT: Final = 3
_MOST_LINES: Final = 5_000
"""Sources with more lines are not compared line by line: that may take time in proportion to their square."""
_MOST_OUTPUTS: Final = 5
_LONGEST_VALUE: Final = 60


class CellLike(msgspec.Struct, frozen=True):
    """What is compared of a cell."""

    index: int
    id: str | None
    cell_type: str
    source: str
    metadata: dict[str, Any] = {}
    outputs: list[dict[str, Any]] = []


class CellChange(msgspec.Struct, frozen=True):
    """How one cell differs."""

    kind: Kind
    old: CellLike | None
    """None where the cell was added."""
    new: CellLike | None
    """None where it was removed."""
    moved: bool = False
    """Whether it stands elsewhere among the cells that both have; a cell that has changed may have moved, too."""
    notes: tuple[str, ...] = ()
    """What else has changed: type, metadata and outputs, a line each."""
    source: tuple[str, ...] = ()
    """The lines of a unified diff of the source, with three lines of context; of a new cell, all with `+`."""


def compare(old: Sequence[CellLike], new: Sequence[CellLike]) -> list[CellChange]:
    """What differs, in the order of the new notebook; nothing where nothing does.

    Cells belong together that have the same id, or else the same source, or else one that is much alike. Ids and
    execution counts do not count as differences: every run and every conversion changes them.
    """
    pairs = match_cells(old, new)
    came_from = {there: place for place, there in pairs.items()}
    in_place = stays([pairs[place] for place in sorted(pairs)])
    found: list[tuple[tuple[int, int], CellChange]] = []
    for there, cell in enumerate(new):
        place = came_from.get(there)
        change = _added(cell) if place is None else _between(old[place], cell, moved=there not in in_place)
        if change is not None:
            found.append(((there, -1), change))
    after = -1
    for place, cell in enumerate(old):
        if place not in pairs:
            found.append(((after, place), _removed(cell)))
        elif pairs[place] in in_place:
            after = pairs[place]
    return [change for _, change in sorted(found, key=lambda entry: entry[0])]


def as_lines(changes: Iterable[CellChange]) -> list[str]:
    """The changes as a person reads them: a heading for each cell, then what differs, like a unified diff."""
    lines: list[str] = []
    for change in changes:
        lines.append(_heading(change))
        lines.extend(f"  {note}" for note in change.notes)
        lines.extend(change.source)
    return lines


def _heading(change: CellChange) -> str:
    cell = change.new or change.old
    assert cell is not None  # A change is one of something.
    named = f"cell {cell.index} ({cell.cell_type}{f', id {cell.id}' if cell.id else ''})"
    moved = f"moved from {change.old.index}" if change.moved and change.old else ""
    return f"{named}: " + ", ".join(filter(None, (change.kind if change.kind != "moved" else "", moved)))


def _added(cell: CellLike) -> CellChange:
    notes = (f"outputs: {_outputs(cell.outputs)}",) if cell.outputs else ()
    return CellChange("added", None, cell, notes=notes, source=tuple(f"+{line}" for line in _lines(cell.source)))


def _removed(cell: CellLike) -> CellChange:
    notes = (f"outputs: {_outputs(cell.outputs)}",) if cell.outputs else ()
    return CellChange("removed", cell, None, notes=notes, source=tuple(f"-{line}" for line in _lines(cell.source)))


def _between(old: CellLike, new: CellLike, *, moved: bool) -> CellChange | None:
    notes = [f"type: {old.cell_type} → {new.cell_type}"] if old.cell_type != new.cell_type else []
    notes += _metadata_notes(old.metadata, new.metadata)
    notes += _output_notes(old.outputs, new.outputs)
    source: list[str] = []
    if old.source != new.source:
        source, note = _source_diff(_lines(old.source), _lines(new.source))
        notes += note
    if notes or source:
        return CellChange("changed", old, new, moved=moved, notes=tuple(notes), source=tuple(source))
    return CellChange("moved", old, new, moved=True) if moved else None


def _lines(source: str) -> list[str]:
    """The lines of a source; one that ends in a newline has an empty one last, so that this is seen too."""
    return source.split("\n") if source else []


def _source_diff(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """The lines of the diff, or a note where there are too many to compare."""
    if max(len(old), len(new)) > _MOST_LINES:
        return [], [f"source: {len(old)} lines → {len(new)} lines, too many to compare one by one"]
    return list(difflib.unified_diff(old, new, n=_CONTEXT, lineterm=""))[2:], []


def _metadata_notes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    notes = []
    for key in sorted({*old, *new}):
        before = _as_json(old[key]) if key in old else ""
        after = _as_json(new[key]) if key in new else ""
        if before and after and before != after:
            notes.append(f"metadata {key}: {_short(before)} → {_short(after)}")
        elif before != after:
            notes.append(f"metadata {key}: {'removed' if before else 'added'} {_short(before or after)}")
    return notes


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _output_notes(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[str]:
    if [_content(output) for output in old] == [_content(output) for output in new]:
        return []
    before, after = _outputs(old), _outputs(new)
    return [f"outputs: {before} → {after}" if before != after else f"outputs: changed ({after})"]


def _content(output: dict[str, Any]) -> dict[str, Any]:
    """What an output shows, whether its texts are lists of lines or in one piece."""
    shown = {key: _joined(value) for key, value in output.items() if key != "execution_count"}
    if isinstance(shown.get("data"), dict):
        shown["data"] = {mime: _joined(value) for mime, value in shown["data"].items()}
    return shown


def _joined(value: Any) -> Any:
    is_lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
    return "".join(value) if is_lines else value


def _outputs(outputs: list[dict[str, Any]]) -> str:
    """The kinds of some outputs."""
    kinds = [_kind(output) for output in outputs[:_MOST_OUTPUTS]]
    if len(outputs) > _MOST_OUTPUTS:
        kinds.append(f"{len(outputs) - _MOST_OUTPUTS} more")
    return ", ".join(kinds) or "none"


def _kind(output: dict[str, Any]) -> str:
    match output.get("output_type"):
        case "stream":
            return str(output.get("name", "stream"))
        case "error":
            return str(output.get("ename", "error"))
        case _:
            data = output.get("data")
            types = [mime for mime in data if mime != "text/plain"] if isinstance(data, dict) else []
            return types[0] if types else "text/plain"
