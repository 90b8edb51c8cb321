"""Which cell is meant: by its index, which counts from 0, or by its id."""

from collections.abc import Sequence

from pisces.errors import NotebookError
from pisces.notebooks.cell import Cell


def place_of(cells: Sequence[Cell], index: int | None, cell_id: str | None, path: str) -> int:
    """The index of the cell that is meant. Raises `NotebookError` when there is none, or more than one."""
    if cell_id is not None:
        return _with_id(cells, cell_id, path)
    assert index is not None
    total = len(cells)
    if not 0 <= index < total:
        allowed = f"0-{total - 1}" if total else "it has no cells"
        raise NotebookError(f"Cell index {index} out of range ({allowed}) in {path}")
    return index


def place_for_new(cells: Sequence[Cell], index: int | None, after_id: str | None, path: str) -> int:
    """The index of a new cell: as it was asked for, behind the cell of an id, or the last one."""
    if after_id is not None:
        return _with_id(cells, after_id, path) + 1
    total = len(cells)
    if index is None:
        return total
    if not 0 <= index <= total:
        raise NotebookError(f"Cell index {index} out of range for insert (0-{total}) in {path}")
    return index


def places_of(cells: Sequence[Cell], first: int, last: int | None, path: str) -> range:
    """The indexes of a range of cells, both ends included."""
    begin = place_of(cells, first, None, path)
    if last is None:
        return range(begin, begin + 1)
    end = place_of(cells, last, None, path)
    if end < begin:
        raise NotebookError(f"The last cell, {last}, comes before the first, {first}: {path}")
    return range(begin, end + 1)


def _with_id(cells: Sequence[Cell], cell_id: str, path: str) -> int:
    found = [index for index, cell in enumerate(cells) if cell.id == cell_id]
    if not found:
        raise NotebookError(f"No cell has the id {cell_id!r} in {path}", hint="`read` shows the ids there are.")
    if len(found) > 1:
        which = ", ".join(map(str, found))
        raise NotebookError(
            f"{len(found)} cells have the id {cell_id!r} (cells {which}) in {path}", hint="Name one by `cell_index`."
        )
    return found[0]
