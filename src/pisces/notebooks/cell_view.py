"""A notebook's file as text to edit, and the file that an edited text makes of it.

A cell whose marker names it stays what it is: where its text did not change its bytes do not either, and where it
did, its source changes and nothing else of it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from pisces.errors import BadCell
from pisces.notebooks.cell import Cell, CellType
from pisces.notebooks.celltext import TextCell, from_text, has_crlf, showable, to_text
from pisces.notebooks.document import EMPTY, Document
from pisces.notebooks.json_spans import Data
from pisces.notebooks.readable import readable

_NAMED: Final = 12
"""Cells that are named one by one; more of them nobody reads."""
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Change(msgspec.Struct):
    """What a text makes of a file. Cells are told by their index in the new file."""

    pieces: list[Data]
    """The bytes of the new file, in order."""
    notes: list[str] = msgspec.field(default_factory=list)
    """What to tell whoever sent the text, in sentences."""
    total_cells: int = 0
    changed: list[int] = msgspec.field(default_factory=list)
    """Those that stayed, with another source or type."""
    added: list[int] = msgspec.field(default_factory=list)
    removed: int = 0
    reordered: bool = False
    """Whether those that stayed follow each other in another order."""
    stale: list[int] = msgspec.field(default_factory=list)
    """Those whose outputs come from the source that they had before."""
    dropped: list[int] = msgspec.field(default_factory=list)
    """Those that were code and had outputs, and now can have none."""


def view(data: bytes, path: str) -> str:
    """The text of a file; one in an old format has one too. Raises `NotebookError` for what is no notebook."""
    return to_text(_typed(readable(data, path).cells, path))


def with_text(data: bytes | None, text: str, path: str) -> Change:
    """What a text makes of a file; of none, a new one.

    Raises `NotebookError` when either cannot be understood, and for a file in an old format.
    """
    document = Document.parse(EMPTY if data is None else data, path)
    before = list(_typed(document.cells, path))
    wanted = from_text(text, path)
    kept = _kept(wanted, len(before))
    stay = [index for index in kept if index is not None]
    change = Change([], removed=len(before) - len(stay), reordered=stay != sorted(stay))
    cells: list[Cell] = []
    for number, (cell, index) in enumerate(zip(wanted, kept, strict=True)):
        if index is None:
            change.added.append(number)
        else:
            source = _source(before[index][1], cell.source, crlf=has_crlf(text))
            cells.append(_edited(document.cells[index], cell.cell_type, source))
            _tell(change, number, document.cells[index], cells[-1])
    ids = document.new_ids()
    for index in sorted(set(range(len(before))).difference(stay), reverse=True):
        document = document.without(index)
    document = document.with_cells(cells)
    for number in change.added:
        document = document.with_new(number, wanted[number].cell_type, wanted[number].source, cell_id=next(ids))
    change.pieces, change.total_cells = document.pieces, len(wanted)
    change.notes = list(_notes(change))
    return change


def _typed(cells: Sequence[Cell], path: str) -> Iterator[tuple[CellType, str]]:
    for index, cell in enumerate(cells):
        try:
            yield cell.cell_type, cell.source
        except BadCell as error:
            raise error.in_file(path, index) from None


def _kept(wanted: Sequence[TextCell], count: int) -> list[int | None]:
    """Which cell of the file each cell of the text is; None for one that it does not have, or has given already."""
    used: set[int] = set()
    kept: list[int | None] = []
    for cell in wanted:
        known = cell.index is not None and cell.index < count and cell.index not in used
        kept.append(cell.index if known else None)
        used.update([cell.index] if cell.index is not None else [])
    return kept


def _edited(cell: Cell, cell_type: CellType, source: str) -> Cell:
    typed = cell if cell.cell_type == cell_type else cell.with_type(cell_type)
    return typed if cell.source == source else typed.with_source(source)


def _source(old: str, text: str, *, crlf: bool) -> str:
    """The source that a text asks for; what a text cannot show of the old one, it cannot have changed."""
    if crlf:
        if f"{showable(old)}\n".replace("\r\n", "\n") == f"{text}\n":
            return old
        text = text.replace("\n", "\r\n") if "\r\n" in old else text
    shown = showable(old)
    if shown == old:
        return text
    head = _alike(shown, text)
    tail = _alike(shown[head:][::-1], text[head:][::-1])
    made = old[:head] + text[head : len(text) - tail] + old[len(old) - tail :]
    # Two halves that came together would be one character in the file, and not the two of the text.
    return text if _PAIR.search(made) and not _PAIR.search(old) else made


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _tell(change: Change, number: int, old: Cell, new: Cell) -> None:
    if new is old:
        return
    change.changed.append(number)
    if old.cell_type == "code" and old.has_outputs:
        (change.stale if new.cell_type == "code" else change.dropped).append(number)


def _notes(change: Change) -> Iterator[str]:
    counts = {"changed": len(change.changed), "added": len(change.added), "removed": change.removed}
    said = [f"{count} {what}" for what, count in counts.items() if count]
    said += ["reordered"] if change.reordered else []
    if not said:
        yield "Nothing changed."
        return
    yield f"Notebook now has {change.total_cells} cells: {', '.join(said)}."
    if change.stale:
        yield f"The outputs of {_named(change.stale)} are from before this edit."
    if change.dropped:
        yield f"The outputs of {_named(change.dropped)} are gone: only code has outputs."


def _named(cells: Sequence[int]) -> str:
    """`cell 2`, `cells 2 and 5`, `cells 2, 5 and 7`; of many, how many they are."""
    if len(cells) > _NAMED:
        return f"{len(cells)} cells"
    *most, last = map(str, cells)
    return f"cells {', '.join(most)} and {last}" if most else f"cell {last}"
