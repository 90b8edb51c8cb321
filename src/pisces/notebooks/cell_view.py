"""A notebook's file as text to edit, and the file that an edited text makes of it.

A cell whose marker names it stays what it is: where its text did not change its bytes do not either, and where it
did, its source changes and nothing else of it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from pisces.errors import BadCell
from pisces.notebooks.cell import Cell, CellType
from pisces.notebooks.celltext import TextCell, from_text, has_crlf, showable, to_text
from pisces.notebooks.document import EMPTY, Document
from pisces.notebooks.json_spans import Data
from pisces.notebooks.readable import readable
from pisces.output.artifact_text import LineRange

_NAMED: Final = 12
"""Cells that are named one by one; more of them nobody reads."""
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class ShownCell(msgspec.Struct, frozen=True):
    """Where a cell is in the text of its file."""

    key: int
    """Stands for its id, its type and its source, and among cells that have all three alike for which of them it is."""
    lines: LineRange


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
    touched: list[ShownCell] = msgspec.field(default_factory=list)
    """The cells of the old file that the text removes, or gives another source or type."""
    keys: list[int] = msgspec.field(default_factory=list)
    """The keys of all cells of the new file."""

    @property
    def made(self) -> list[int]:
        """Those that the old file does not have like this."""
        return [*self.changed, *self.added]


def view(data: bytes, path: str) -> str:
    """The text of a file; one in an old format has one too. Raises `NotebookError` for what is no notebook."""
    return view_and_cells(data, path)[0]


def view_and_cells(data: bytes, path: str) -> tuple[str, list[ShownCell]]:
    """The text of a file, and where its cells are in it. Raises as `view` does."""
    cells = readable(data, path).cells
    typed = list(_typed(cells, path))
    return to_text(typed), _placed(cells, typed)


def keys_of(cells: Sequence[Cell]) -> list[int]:
    """The key of each cell. Outputs make no difference: runs change them all the time.

    The key of one of several equal cells, which have no ids then, also changes with their number: after one of them was
    removed, nothing tells which of them another one is.
    """
    alike = [hash(bytes(cell.raw)) if cell.flaw else key_of(cell.id, cell.cell_type, cell.source) for cell in cells]
    number, found = Counter(alike), Counter[int]()
    keys = []
    for what in alike:
        found[what] += 1
        keys.append(what if number[what] == 1 else hash((what, found[what], number[what])))
    return keys


def key_of(cell_id: str | None, cell_type: str, source: str) -> int:
    """The key of a cell that no other one is like."""
    return hash((cell_id, cell_type, source))


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
    changed = [index for index, cell in zip(stay, cells, strict=True) if cell is not document.cells[index]]
    removed = set(range(len(before))).difference(stay)
    if touched := sorted(removed.union(changed)):
        where = _placed(document.cells, before)
        change.touched = [where[index] for index in touched]
    for index in sorted(removed, reverse=True):
        document = document.without(index)
    document = document.with_cells(cells)
    for number in change.added:
        document = document.with_new(number, wanted[number].cell_type, wanted[number].source, cell_id=next(ids))
    change.pieces, change.total_cells, change.keys = document.pieces, len(wanted), keys_of(document.cells)
    change.notes = list(_notes(change))
    return change


def _placed(cells: Sequence[Cell], typed: Iterable[tuple[CellType, str]]) -> list[ShownCell]:
    """Where each cell is in the text of all of them: its marker, its source, and the newline after that."""
    placed, line = [], 1
    for key, (_, source) in zip(keys_of(cells), typed, strict=True):
        last = line + 1 + source.count("\n")
        placed.append(ShownCell(key, LineRange(line, last)))
        line = last + 1
    return placed


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
