"""The cells of a notebook of any format, for those who only read."""

import json
from pathlib import Path
from typing import Any

import msgspec

from pisces.errors import FileMissing, NotebookError
from pisces.files.whole_file import FileVersion, read_whole
from pisces.model.notebooks import NotebookCellInfo
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import Document
from pisces.notebooks.old_formats import readable_cells, version_of
from pisces.notebooks.outline import outline_of
from pisces.notebooks.settling import once_settled
from pisces.notebooks.style import Style


class Readable(msgspec.Struct, frozen=True):
    """A notebook as a reader sees it."""

    path: str
    """What errors call it."""
    cells: tuple[Cell, ...]
    metadata: dict[str, Any]
    """That of the notebook."""
    read_only: str = ""
    """Why it cannot be changed, where that is so."""


def read_notebook(path: Path, shown: str) -> tuple[Readable, FileVersion]:
    """Read a file; `shown` is what errors call it. Raises `NotebookError` and `FileError`."""

    def read() -> tuple[Readable, FileVersion]:
        data, version = read_whole(path)
        return readable(data, shown), version

    try:
        return once_settled(path, read)
    except FileMissing:
        raise NotebookError(f"Notebook not found: {shown}") from None


def readable(data: bytes, path: str) -> Readable:
    """The notebook in these bytes. Raises `NotebookError` for what is none, with the path."""
    try:
        document = Document.parse(data, path)
    except NotebookError as error:
        cells = old_cells(data)
        if cells is None:
            raise
        metadata = outline_of(data, path).value("metadata")
        return Readable(path, cells, metadata if isinstance(metadata, dict) else {}, error.explain())
    return Readable(path, document.cells, document.metadata)


def cell_info(index: int, cell: Cell, *, outputs: bool) -> NotebookCellInfo:
    """A cell for programs; of one that no notebook can have, only that."""
    if cell.flaw:
        return NotebookCellInfo(cell_index=index, cell_type="invalid")
    return NotebookCellInfo(
        cell_index=index,
        cell_type=cell.cell_type,
        cell_id=cell.id,
        cell_source=cell.source,
        execution_count=cell.execution_count,
        tags=sorted(cell.tags),
        outputs=cell.outputs if outputs and cell.cell_type == "code" else None,
    )


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
