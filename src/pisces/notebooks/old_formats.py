"""Notebooks of nbformat 1 to 4.4 as nbformat 4.5 has them, and their cells to read without changing anything.

Names are brought up to date first (`old_formats_renames`), then everything is fitted to the schema (`old_formats_fit`).
What 4.5 has no place for is kept in the metadata, under `before_upgrade`:

- of the notebook: its name, members that are not known, values that the schema does not allow, and the worksheets (how
  many cells each had, its name, its metadata) where there were several or they had more than cells;
- of a cell: a language that is not Python, a heading level above 6, members that are not known, values that the schema
  does not allow, and by their old number the outputs, or the parts of outputs, that have no place.

Signatures, marks of trust and `orig_nbformat` are dropped, as Jupyter drops them: none is true of the new file.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from pisces.errors import NotebookError
from pisces.notebooks.old_formats_fit import fit_cell, fit_metadata, remember, split_lines
from pisces.notebooks.old_formats_renames import rename_cell

Node = dict[str, Any]
"""An object of the JSON of a notebook."""

VERSION: Final = (4, 5)
"""The version that notebooks are upgraded to."""

_STRUCTURE: Final = frozenset({"cells", "metadata", "nbformat", "nbformat_minor", "worksheets"})
_TRANSIENT: Final = ("orig_nbformat", "orig_nbformat_minor", "signature")
_LONGEST_STEM: Final = 50


def version_of(notebook: Node) -> tuple[int, int]:
    """The version of the format: `nbformat` and `nbformat_minor`. The first format had no number.

    Raises `NotebookError` for what is no notebook.
    """
    if not isinstance(notebook, dict):
        raise NotebookError("no notebook: the file holds no JSON object")
    if "nbformat" not in notebook and not isinstance(notebook.get("cells"), list):
        raise NotebookError("no notebook: there is neither `nbformat` nor a list of cells")
    return _number(notebook, "nbformat", 1), _number(notebook, "nbformat_minor", 0)


def upgrade(notebook: Node, *, ids: Callable[[], str]) -> Node:
    """The notebook in nbformat 4.5, as Jupyter would convert and write it. The one that is given is not changed.

    Cells without an id get one of `ids`, and so does the later one of two cells with the same. A notebook that is
    4.5 already comes out as it is, but for what the schema does not allow.
    Raises `NotebookError` for what is no notebook, and for one that is newer.
    """
    version = version_of(notebook)
    if version > VERSION:
        raise NotebookError(
            f"nbformat {version[0]}.{version[1]} is newer than 4.5",
            hint="There is nothing to upgrade; a newer Pisces may know this format.",
        )
    old = _copy(notebook)
    worksheets = _worksheets(old)
    cells = [fit_cell(rename_cell(cell, version[0])) for cell in _cells_of(worksheets)]
    _give_ids(cells, ids)
    for cell in cells:
        split_lines(cell)
    return {
        "cells": [dict(sorted(cell.items())) for cell in cells],
        "metadata": _metadata(old, version[0], worksheets),
        "nbformat": VERSION[0],
        "nbformat_minor": VERSION[1],
    }


def readable_cells(notebook: Node) -> list[Node]:
    """The cells of a notebook of any version as nbformat 4 has them, for reading only.

    Each has `cell_type`, `metadata` and `source`, code also `outputs` and `execution_count`; texts are in one piece.
    Raises `NotebookError` for what is no notebook.
    """
    major, _ = version_of(notebook)
    return [fit_cell(rename_cell(cell, major)) for cell in _cells_of(_worksheets(_copy(notebook)))]


def _copy(notebook: Node) -> Node:
    try:
        return deepcopy(notebook)
    except RecursionError:
        raise NotebookError("the notebook is nested too deeply") from None


def _number(notebook: Node, key: str, default: int) -> int:
    number = notebook.get(key, default)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise NotebookError(f"no notebook: `{key}` is {number!r}, not a number")
    return number


def _worksheets(notebook: Node) -> list[Node]:
    """The worksheets; cells that stand in the notebook itself are the only one, or come last."""
    found = notebook.get("worksheets", [])
    if not isinstance(found, list) or not all(isinstance(worksheet, dict) for worksheet in found):
        raise NotebookError("Invalid notebook structure (worksheets are no array of objects)")
    if "cells" in notebook:
        return [*found, {"cells": notebook["cells"]}]
    if "worksheets" not in notebook:
        raise NotebookError("Invalid notebook structure (missing cells array)")
    return found


def _cells_of(worksheets: list[Node]) -> list[Node]:
    cells: list[Node] = []
    for worksheet in worksheets:
        found = worksheet.get("cells", [])
        if not isinstance(found, list):
            raise NotebookError("Invalid notebook structure (missing cells array)")
        cells.extend(found)
    for index, cell in enumerate(cells):
        if not isinstance(cell, dict):
            raise NotebookError(f"Invalid notebook structure (cell {index} is no object)")
    return cells


def _metadata(notebook: Node, major: int, worksheets: list[Node]) -> Node:
    found = notebook.get("metadata", {})
    left = {key: value for key, value in notebook.items() if key not in _STRUCTURE and key not in _TRANSIENT}
    if not isinstance(found, dict):
        found, left["metadata"] = {}, found
    for key in _TRANSIENT:
        found.pop(key, None)
    noted = [
        {**worksheet, "cells": len(worksheet.get("cells", []))}
        for worksheet in worksheets
        if len(worksheets) > 1 or any(value for key, value in worksheet.items() if key != "cells")
    ]
    metadata, misfits = fit_metadata(found, "notebook")
    if major < VERSION[0] and (name := metadata.pop("name", "")):
        misfits["name"] = name
    remember(metadata, {**left, "worksheets": noted}, misfits)
    return metadata


def _give_ids(cells: list[Node], ids: Callable[[], str]) -> None:
    taken = {cell["id"] for cell in cells if "id" in cell}
    seen: set[str] = set()
    for cell in cells:
        if cell.get("id") in seen or "id" not in cell:
            cell["id"] = _fresh(ids, taken)
            taken.add(cell["id"])
        seen.add(cell["id"])


def _fresh(ids: Callable[[], str], taken: set[str]) -> str:
    stem = made = ids()
    number = 1
    while made in taken:
        number += 1
        made = f"{stem[:_LONGEST_STEM]}-{number}"
    return made
