"""The cells of a notebook of any format, for those who only read."""

import json

import msgspec

from pisces.errors import NotebookError
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import Document
from pisces.notebooks.old_formats import readable_cells, version_of
from pisces.notebooks.style import Style


class Readable(msgspec.Struct, frozen=True):
    """A notebook as a reader sees it."""

    cells: tuple[Cell, ...]
    read_only: str = ""
    """Why it cannot be changed, where that is so."""


def readable(data: bytes, path: str) -> Readable:
    """The notebook in these bytes. Raises `NotebookError` for what is none, with the path."""
    try:
        return Readable(Document.parse(data, path).cells)
    except NotebookError as error:
        cells = old_cells(data)
        if cells is None:
            raise
        return Readable(cells, error.explain())


def old_cells(data: bytes) -> tuple[Cell, ...] | None:
    """The cells of a file in a format before 4, as those of now are; None for any other file."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        if not isinstance(notebook, dict) or version_of(notebook)[0] >= 4:
            return None
        style = Style()
        return tuple(Cell(style.encode(cell), style) for cell in readable_cells(notebook))
    except (ValueError, RecursionError, NotebookError):
        return None
