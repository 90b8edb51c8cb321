"""A notebook as the bytes of its file: cells are changed, added, taken out and moved, and all else stays as it was.

The file is cut into what stands before its cells, the cells, what stands between them, and what stands after. Put
together again these give the same file, and a change gives the same file but for the cell that it is about. Nothing
that was not asked for is decoded, so that 50 MB of outputs cost little more than reading them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from uuid import uuid4

from pisces.errors import NotebookError
from pisces.notebooks.cell import Cell, CellType
from pisces.notebooks.json_spans import Data
from pisces.notebooks.outline import Outline, outline_of
from pisces.notebooks.style import Style

EMPTY: Final = b'{\n "cells": [],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n'
"""What a notebook that is not there yet begins as."""
_WITH_IDS: Final = (4, 5)
_UPGRADE: Final = "`pisces notebook upgrade` writes it in nbformat 4.5; until then it can only be read."


class Document:
    """A notebook. It never changes: every change makes another one."""

    def __init__(
        self, head: Data, cells: Sequence[Cell], leads: Sequence[Data], tail: Data, *, style: Style, outline: Outline
    ) -> None:
        """`leads` are what stands before each cell: the comma, but before the first, and the white space."""
        self.cells = tuple(cells)
        self.style = style
        self._head, self._leads, self._tail = head, tuple(leads), tail
        self._outline = outline

    @classmethod
    def parse(cls, data: bytes, path: str) -> "Document":
        """Understand a file that can be changed. Raises `NotebookError` for one that cannot, with the path."""
        outline = outline_of(data, path)
        _refuse_other_formats(outline, path)
        if outline.cells is None:
            raise NotebookError(f"Invalid notebook structure (missing cells array): {path}")
        view, style = memoryview(data), Style.of(data, outline.start)
        ends = [outline.cells_start + 1, *(span.end for span in outline.cells)]
        for first in outline.cells[:1]:
            style = style.as_in(view[ends[0] : first.start], view[first.start : first.end])
        cells = [Cell(view[span.start : span.end], style) for span in outline.cells]
        leads = [view[end : span.start] for end, span in zip(ends, outline.cells, strict=False)]
        return cls(view[: ends[0]], cells, leads, view[ends[-1] :], style=style, outline=outline)

    @property
    def pieces(self) -> list[Data]:
        """The bytes of the file, in order, as they are to be written."""
        between = (piece for lead, cell in zip(self._leads, self.cells, strict=True) for piece in (lead, cell.raw))
        return [self._head, *between, self._tail]

    def to_bytes(self) -> bytes:
        """The same in one piece."""
        return b"".join(self.pieces)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the notebook."""
        found = self._outline.value("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def has_ids(self) -> bool:
        """Whether cells of this format have ids."""
        return (self._outline.number("nbformat", 4), self._outline.number("nbformat_minor", 0)) >= _WITH_IDS

    def with_cell(self, index: int, cell: Cell) -> "Document":
        """With another cell in the place of this one."""
        return self._with([*self.cells[:index], cell, *self.cells[index + 1 :]], self._leads)

    def with_new(self, index: int, cell_type: CellType, source: str, *, cell_id: str = "") -> "Document":
        """With a new cell before the one of this index, or at the end. Its id is made where none is given."""
        near = self.cells[max(0, index - 4) : index + 4]
        as_list = not near or any(cell.source_is_list for cell in near)
        known_as = (cell_id or self.new_id()) if self.has_ids else None
        return self.with_inserted(index, Cell.new(cell_type, source, self.style, cell_id=known_as, as_list=as_list))

    def with_inserted(self, index: int, cell: Cell) -> "Document":
        """With this cell before the one of this index, or at the end."""
        cells = [*self.cells[:index], cell, *self.cells[index:]]
        if not self.cells:
            outer, inner = map(self.style.line, (self.style.member_margin, self.style.cell_margin))
            tail = outer.encode() + bytes(self._tail).lstrip()
            return self._with(cells, [inner.encode()], tail)
        place = max(index, 1)
        return self._with(cells, [*self._leads[:place], self._between(), *self._leads[place:]])

    def without(self, index: int) -> "Document":
        """Without this cell."""
        cells = [*self.cells[:index], *self.cells[index + 1 :]]
        if not cells:
            return self._with(cells, [], bytes(self._tail).lstrip())
        if index == 0:
            return self._with(cells, [self._leads[0], *self._leads[2:]])
        return self._with(cells, [*self._leads[:index], *self._leads[index + 1 :]])

    def with_moved(self, index: int, to: int) -> "Document":
        """With this cell at another index, counted when it has been taken out."""
        cells = [*self.cells[:index], *self.cells[index + 1 :]]
        return self._with([*cells[:to], self.cells[index], *cells[to:]], self._leads)

    def with_cells(self, cells: Iterable[Cell]) -> "Document":
        """With these cells in place of all."""
        document = self
        made = list(cells)
        while len(document.cells) > max(len(made), 1):
            document = document.without(len(document.cells) - 1)
        if not made:
            return document.without(0) if document.cells else document
        while len(document.cells) < len(made):
            document = document.with_inserted(len(document.cells), made[len(document.cells)])
        return document._with(made, document._leads)

    def new_id(self) -> str:
        """An id that no cell has."""
        added = [cell for cell in self.cells if isinstance(cell.raw, bytes)]
        while (made := uuid4().hex[:8]).encode() in self._outline.data or any(cell.id == made for cell in added):
            pass
        return made

    def new_ids(self) -> Iterator[str]:
        """Any number of them. All cells are looked at once, where `new_id` searches the file for each."""
        taken = {cell.id for cell in self.cells}
        while True:
            made = uuid4().hex[:8]
            if made not in taken:
                taken.add(made)
                yield made

    def _between(self) -> Data:
        """What stands before a further cell."""
        if len(self._leads) > 1:
            return self._leads[1]
        lead = bytes(self._leads[0])
        return b"," + lead if b"\n" in lead else self.style.comma.encode()

    def _with(self, cells: Sequence[Cell], leads: Sequence[Data], tail: Data | None = None) -> "Document":
        end = self._tail if tail is None else tail
        return Document(self._head, cells, leads, end, style=self.style, outline=self._outline)


def _refuse_other_formats(outline: Outline, path: str) -> None:
    major = outline.number("nbformat", 4)
    if major < 4 and outline.cells is None:
        raise NotebookError(
            f"The notebook is in nbformat {major}, which is too old to be changed: {path}", hint=_UPGRADE
        )
    if major > 4:
        raise NotebookError(
            f"The notebook is in nbformat {major}, which is newer than what is known here (4): {path}",
            hint="Use a newer version of Pisces, or save it in nbformat 4.",
        )
