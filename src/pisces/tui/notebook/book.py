"""A notebook that is being worked on, by a person here and by others who write the same file.

Which cells there are, their order and their types are changed in the file at once; the text of a cell is a draft until
it is saved. What others write is taken over, but never in place of a draft: then the person chooses.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from pisces.errors import BadCell, NotebookError
from pisces.files.version import FileVersion
from pisces.files.whole_file import locked
from pisces.notebooks.cell import Cell, CellType
from pisces.notebooks.document import EMPTY, Document
from pisces.notebooks.notebook_file import CellRef, NotebookFile
from pisces.notebooks.readable import read_notebook
from pisces.tui.notebook.merge import same_cells

Change = Callable[[Document], Document]
_numbers = count(1)


def source_of(cell: Cell) -> str:
    """The source of a cell; of one that no notebook can have, nothing."""
    try:
        return cell.source
    except BadCell:
        return ""


class BookCell(msgspec.Struct, eq=False):
    """A cell, which stays the same object as long as it is the same cell."""

    cell: Cell
    """As it is in the file."""
    draft: str | None = None
    """The text as the person has changed it; None where it is that of the file."""
    begun_from: str = ""
    """The text of the file that the draft was begun with."""
    gone: bool = False
    """Whether somebody else has deleted it; it is kept for its draft."""
    key: int = msgspec.field(default_factory=lambda: next(_numbers))

    @property
    def source(self) -> str:
        """What is to be seen."""
        return source_of(self.cell) if self.draft is None else self.draft

    @property
    def kind(self) -> str:
        """Its type; `invalid` where it has none that a notebook can have."""
        return "invalid" if self.cell.flaw else self.cell.cell_type

    @property
    def conflict(self) -> bool:
        """Whether somebody else has changed the text that the draft was begun with."""
        return self.draft is not None and not self.gone and source_of(self.cell) != self.begun_from

    def write(self, text: str) -> None:
        """The person has typed this."""
        if self.draft is None:
            self.begun_from = source_of(self.cell)
        self.draft = None if text == source_of(self.cell) and not self.gone else text


class State(msgspec.Struct, frozen=True):
    """The notebook as it is in the file."""

    cells: Sequence[Cell]
    metadata: dict[str, Any]
    version: FileVersion | None
    read_only: str = ""


class Book:
    """The cells in sight. `read`, `create` and what `changing` gives block: use a thread, one at a time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.cells: list[BookCell] = []
        self.metadata: dict[str, Any] = {}
        self.read_only = ""
        """Why it cannot be changed, where that is so."""
        self._version: FileVersion | None = None
        self._left: FileVersion | None = None
        self._file = NotebookFile(Path(path), path)

    @property
    def unsaved(self) -> list[BookCell]:
        """The cells with drafts."""
        return [cell for cell in self.cells if cell.draft is not None]

    @property
    def is_missing(self) -> bool:
        """Whether there is no such file."""
        return not os.path.lexists(self.path)

    def has_changed(self) -> bool:
        """Whether the file is not the version that was read last."""
        version = self._present()  # None: whoever replaces it is not done, or it is gone. What was read stays in sight.
        return version is not None and version not in (self._version, self._left)

    def leave_this_version(self) -> None:
        """The file as it is now cannot be read: look at it again when it has changed."""
        self._left = self._present()

    def _present(self) -> FileVersion | None:
        try:
            return FileVersion.of(os.stat(self.path))
        except OSError:
            return None

    def read(self) -> State:
        """Read the file. Raises `NotebookError` and `FileError`."""
        seen, version = read_notebook(Path(self.path), self.path)
        return _state(seen.cells, seen.metadata, version, seen.read_only)

    def create(self) -> State:
        """Make an empty notebook where there is none, and read it. Raises `FileError`."""
        with locked(Path(self.path)) as file:
            if file.version is None:
                file.replace([EMPTY])
        return self.read()

    def apply(self, change: Change) -> State:
        """Put a change into the file, and have its state then. Raises `NotebookError` and `FileError`."""
        if self.read_only:
            raise NotebookError(self.read_only)
        document = self._file.change(change)
        return _state(document.cells, document.metadata, self._file.version)

    def take(self, state: State) -> str:
        """Have this state in sight. What it says of cells that others changed is returned, for the person to know."""
        before = self.cells
        places = same_cells([cell.cell for cell in before], state.cells)
        by_new = {new: before[old] for old, new in places.items()}
        changed = sum(
            source_of(by_new[new].cell) != source_of(cell) for new, cell in enumerate(state.cells) if new in by_new
        )
        added = len(state.cells) - len(by_new)
        removed = sum(not cell.gone for place, cell in enumerate(before) if place not in places)
        made = [by_new.get(new) or BookCell(cell) for new, cell in enumerate(state.cells)]
        for each, cell in zip(made, state.cells, strict=True):
            each.cell, each.gone = cell, False
            if each.draft == source_of(cell):
                each.draft = None
        self.cells = self._with_orphans(made)
        self.metadata, self._version, self.read_only = state.metadata, state.version, state.read_only
        return _told(changed, added, removed)

    def place(self, cell: BookCell) -> int:
        """The index of a cell in the file."""
        return sum(not each.gone for each in self.cells[: self.cells.index(cell)])

    def ref(self, cell: BookCell) -> CellRef:
        """How to find it in the file, whoever has changed what is around it."""
        return CellRef(self.place(cell), cell.cell.id, source_of(cell.cell))

    def saving(self, cells: Iterable[BookCell]) -> Change:
        """The change that puts the drafts of these cells into the file. Raises `NotebookError` at a conflict."""
        drafts = [(self.ref(cell), cell.draft, cell.gone, cell.cell) for cell in cells if cell.draft is not None]

        def change(document: Document) -> Document:
            for ref, draft, gone, cell in drafts:
                if gone:
                    kind: CellType = "code" if cell.flaw else cell.cell_type
                    document = document.with_new(min(ref.index, len(document.cells)), kind, draft or "")
                    continue
                place = found(ref, document, self.path)
                document = document.with_cell(place, document.cells[place].with_source(draft or ""))
            return document

        return change

    def settle(self, cell: BookCell, *, mine: bool) -> None:
        """End a conflict: with the person's text, which is then a draft on what is in the file; or with the file's."""
        cell.begun_from = source_of(cell.cell)
        if not mine:
            cell.draft = None
            self.cells = [each for each in self.cells if each is not cell or not cell.gone]

    def saved(self, cell: BookCell, text: str) -> None:
        """The file has this draft of a cell, if no longer the last one. To be called before the state is taken.

        A cell that others had deleted is known by its text then, as it has a new id.
        """
        if cell.gone:
            kind: CellType = "code" if cell.cell.flaw else cell.cell.cell_type
            cell.cell = Cell.new(kind, text, cell.cell.style)
        cell.begun_from = text

    def drop(self, cell: BookCell) -> None:
        """The person has deleted this cell: its draft does not keep it. To be called before the state is taken."""
        self.cells = [each for each in self.cells if each is not cell]

    def put_back(self, cell: BookCell, place: int) -> None:
        """The deletion of this cell was taken back: it has its draft. To be called before the state is taken."""
        there = [each for each in self.cells if not each.gone]
        at = self.cells.index(there[place]) if place < len(there) else len(self.cells)
        self.cells = [*self.cells[:at], cell, *self.cells[at:]]

    def _with_orphans(self, made: list[BookCell]) -> list[BookCell]:
        """Cells that others deleted and that have drafts stay where they were."""
        kept = list(made)
        for at, cell in enumerate(self.cells):
            if cell.draft is None or cell in made:
                continue
            cell.gone = True
            before = next((each for each in reversed(self.cells[:at]) if each in kept), None)
            kept.insert(kept.index(before) + 1 if before is not None else 0, cell)
        return kept


def found(ref: CellRef, document: Document, path: str) -> int:
    """Where a cell is now. Raises `NotebookError` when somebody else has changed or deleted it meanwhile."""
    place = ref.find(document)
    if place is None:
        raise NotebookError(
            f"Cell {ref.index} was changed by somebody else just now; nothing was written: {path}",
            hint="It is shown as it is now in a moment; then decide again.",
        )
    return place


def _state(cells: Sequence[Cell], metadata: dict[str, Any], version: FileVersion | None, read_only: str = "") -> State:
    for cell in cells:
        _ = cell.flaw  # What of it is looked at later is decoded here, in a thread.
    return State(cells, metadata, version, read_only)


def _told(changed: int, added: int, removed: int) -> str:
    facts = ((changed, "changed"), (added, "added"), (removed, "removed"))
    parts = [f"{number} {'cell' if number == 1 else 'cells'} {what}" for number, what in facts if number]
    return f"Somebody else has written the file: {', '.join(parts)}." if parts else ""
