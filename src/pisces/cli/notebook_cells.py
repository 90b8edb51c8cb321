"""Which cells of a notebook a person means: numbers from 0, ids, and ranges such as `2-5` or `2-`."""

import re
from collections.abc import Sequence
from typing import Final

from pisces.errors import NotebookError
from pisces.notebooks.addressing import place_of, places_of
from pisces.notebooks.cell import Cell

_RANGE: Final = re.compile(r"(\d{1,18})-(\d{1,18})?", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,18}", re.ASCII)


def one_cell(cells: Sequence[Cell], text: str, path: str) -> int:
    """The index of the cell that is meant. Raises `NotebookError` when there is none, or more than one.

    A number is an index where there is such a cell. An id may be made of digits, too: it counts where there is not.
    """
    number = int(text) if _NUMBER.fullmatch(text) else None
    if number is not None and number < len(cells):
        return number
    found = [index for index, cell in enumerate(cells) if cell.id == text]
    if len(found) > 1:
        places = ", ".join(map(str, found))
        raise NotebookError(
            f"{len(found)} cells have the id {text!r} in {path}: {places}", hint="Name one by its number."
        )
    if found:
        return found[0]
    if number is not None:
        return place_of(cells, number, None, path)
    raise NotebookError(f"No cell has the id {text!r} in {path}", hint=f"`pisces notebook show {path}` shows the ids.")


def some_cells(cells: Sequence[Cell], text: str | None, path: str) -> range:
    """The indexes of the cells that are meant; all where nothing is said. Raises `NotebookError`."""
    if text is None:
        return range(len(cells))
    ends = _RANGE.fullmatch(text)
    if ends is None or any(cell.id == text for cell in cells):
        place = one_cell(cells, text, path)
        return range(place, place + 1)
    last = len(cells) - 1 if ends[2] is None else int(ends[2])
    return places_of(cells, int(ends[1]), last, path)
