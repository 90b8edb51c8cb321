"""What can be done to the cells of a notebook, each with what takes it back."""

import msgspec

from pisces.notebooks.cell import Cell, CellType
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import CellRef
from pisces.tui.notebook.book import Book, BookCell, Change, found


class Step(msgspec.Struct, frozen=True):
    """A change, what takes it back, and what to call it."""

    change: Change
    back: Change
    called: str
    deleted: BookCell | None = None
    """The cell that it takes away; its draft comes back with it."""
    place: int = 0
    """Where the cell is that it is about."""


def insertion(book: Book, place: int, cell_type: CellType = "code") -> Step:
    """A new cell, empty, before the one of this place."""
    made: list[CellRef] = []

    def change(document: Document) -> Document:
        changed = document.with_new(min(place, len(document.cells)), cell_type, "")
        made[:] = [CellRef.of(changed, min(place, len(document.cells)))]
        return changed

    def back(document: Document) -> Document:
        return document.without(found(made[0], document, book.path))

    return Step(change, back, "a cell was inserted", place=place)


def deletion(book: Book, cell: BookCell) -> Step:
    """Without this cell; it comes back as it was, with its outputs."""
    ref, kept = book.ref(cell), cell.cell

    def change(document: Document) -> Document:
        return document.without(_found_or_flawed(ref, kept, document, book.path))

    def back(document: Document) -> Document:
        return document.with_inserted(min(ref.index, len(document.cells)), Cell(bytes(kept.raw), kept.style))

    return Step(change, back, f"cell {ref.index} was deleted", deleted=cell, place=ref.index)


def movement(book: Book, cell: BookCell, by: int) -> Step | None:
    """One place up or down; None where there is none."""
    ref = book.ref(cell)
    to, last = ref.index + by, sum(not each.gone for each in book.cells) - 1
    if not 0 <= to <= last:
        return None

    there = msgspec.structs.replace(ref, index=to)

    def moved(ref: CellRef, by: int) -> Change:
        def change(document: Document) -> Document:
            place = found(ref, document, book.path)
            return document.with_moved(place, max(0, min(place + by, len(document.cells) - 1)))

        return change

    return Step(moved(ref, by), moved(there, -by), f"cell {ref.index} was moved", place=to)


def retyping(book: Book, cell: BookCell, cell_type: CellType) -> Step:
    """Another type; code that becomes text loses its outputs, and gets them back."""
    return _replacing(book, cell, cell.cell.with_type(cell_type), f"cell {book.place(cell)} became {cell_type}")


def clearing(book: Book, cell: BookCell) -> Step:
    """Without outputs."""
    return _replacing(book, cell, cell.cell.without_outputs(), f"the outputs of cell {book.place(cell)} were cleared")


def _replacing(book: Book, cell: BookCell, new: Cell, called: str) -> Step:
    ref, old = book.ref(cell), Cell(bytes(cell.cell.raw), cell.cell.style)

    def put(made: Cell) -> Change:
        def change(document: Document) -> Document:
            return document.with_cell(found(ref, document, book.path), made)

        return change

    return Step(put(new), put(old), called, place=ref.index)


def _found_or_flawed(ref: CellRef, cell: Cell, document: Document, path: str) -> int:
    """A cell that no notebook can have is known by its place and its bytes: deleting it mends the file."""
    cells = document.cells
    if cell.flaw and ref.index < len(cells) and bytes(cells[ref.index].raw) == bytes(cell.raw):
        return ref.index
    return found(ref, document, path)
