"""A notebook of any format for those who only look at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from pisces.errors import FileMissing, NotebookError
from pisces.files.whole_file import read_whole
from pisces.notebooks.cell import Cell
from pisces.notebooks.outline import outline_of
from pisces.notebooks.readable import readable


class NotebookSeen(msgspec.Struct, frozen=True):
    """What is in a file."""

    path: str
    cells: tuple[Cell, ...]
    metadata: Any
    read_only: str
    """Why it cannot be changed, where that is so."""


def read_notebook(path: str) -> NotebookSeen:
    """Read a notebook. Raises `NotebookError` and `FileError`."""
    try:
        data, _ = read_whole(Path(path))
    except FileMissing:
        raise NotebookError(f"Notebook not found: {path}") from None
    found = readable(data, path)
    return NotebookSeen(path, found.cells, outline_of(data, path).value("metadata"), found.read_only)


@contextmanager
def named_cell(index: int, path: str) -> Iterator[None]:
    """What is wrong with a cell is said with its number and the path."""
    try:
        yield
    except NotebookError as error:
        raise NotebookError(f"Invalid notebook structure (cell {index}: {error}): {path}") from None
