"""The actions of the `notebook` tool that change cells: a change to the document, and the sentence that tells of it."""

from collections.abc import Callable
from typing import Final

from pisces.errors import BadCell
from pisces.model.notebooks import NotebookAction, NotebookDetails
from pisces.notebooks.addressing import place_for_new, place_of, places_of
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import Document
from pisces.tools.notebook_params import NotebookParams

Edited = tuple[Document, str, NotebookDetails]


def edited(document: Document, params: NotebookParams) -> Edited:
    """The notebook after the change, a sentence or two, and the details. Raises `NotebookError`."""
    return _ACTIONS[params.action](document, params)


def _edit(document: Document, params: NotebookParams) -> Edited:
    index = place_of(document.cells, params.cell_index, params.cell_id, params.notebook_path)
    before = document.cells[index]
    cell = before.with_source(params.content or "")
    if params.cell_type is not None:
        cell = cell.with_type(params.cell_type)
    if params.clear_outputs and cell.cell_type == "code":
        cell = cell.without_outputs()
    changed = document if cell is before else document.with_cell(index, cell)
    details = _details(params, changed, index, cell)
    details.stale_outputs = is_stale(before, cell)
    text = f"Replaced cell {index} ({cell.cell_type}). {_total(changed)}"
    if details.stale_outputs:
        text += "\nIts outputs are stale, from before this edit: run the cell, or clear them."
    return changed, text, details


def is_stale(before: Cell, after: Cell) -> bool:
    """Whether a cell has outputs that its source of now did not make."""
    return before.source != after.source and after.has_outputs


def _insert(document: Document, params: NotebookParams) -> Edited:
    index = place_for_new(document.cells, params.cell_index, params.cell_id, params.notebook_path)
    changed = document.with_new(index, params.cell_type or "code", params.content or "")
    cell = changed.cells[index]
    text = f"Inserted {cell.cell_type} cell at position {index}. {_total(changed)}"
    return changed, text, _details(params, changed, index, cell)


def _delete(document: Document, params: NotebookParams) -> Edited:
    index = place_of(document.cells, params.cell_index, params.cell_id, params.notebook_path)
    cell, changed = document.cells[index], document.without(index)
    try:
        details = _details(params, changed, index, cell)
    except BadCell:  # To take it out is the way to mend such a notebook.
        details = _details(params, changed, index)
    text = f"Deleted cell {index} ({details.cell_type or 'invalid'}). {_total(changed)}"
    return changed, text, details


def _move(document: Document, params: NotebookParams) -> Edited:
    index = place_of(document.cells, params.cell_index, params.cell_id, params.notebook_path)
    to = place_of(document.cells, params.to_index, None, params.notebook_path)
    changed = document if to == index else document.with_moved(index, to)
    cell = changed.cells[to]
    text = f"Moved cell {index} ({cell.cell_type}) to position {to}. {_total(changed)}"
    return changed, text, _details(params, changed, to, cell)


def _clear(document: Document, params: NotebookParams) -> Edited:
    changed, cleared = document, 0
    wanted = _cells_to_clear(document, params)
    for index in wanted:
        cell = document.cells[index]
        if not cell.flaw and cell.cell_type == "code" and (clean := cell.without_outputs()) is not cell:
            changed, cleared = changed.with_cell(index, clean), cleared + 1
    if len(wanted) == 1:
        text = f"Cleared the outputs of cell {wanted[0]}. {_total(changed)}"
        return changed, text, _details(params, changed, wanted[0], changed.cells[wanted[0]])
    text = f"Cleared the outputs of {cleared} cell{'' if cleared == 1 else 's'}. {_total(changed)}"
    return changed, text, _details(params, changed)


def _cells_to_clear(document: Document, params: NotebookParams) -> range:
    if params.cell_id is not None:
        index = place_of(document.cells, None, params.cell_id, params.notebook_path)
        return range(index, index + 1)
    if params.cell_index is None:
        return range(len(document.cells))
    return places_of(document.cells, params.cell_index, params.last_index, params.notebook_path)


def _total(document: Document) -> str:
    return f"Notebook now has {len(document.cells)} cells."


def _details(
    params: NotebookParams, document: Document, index: int | None = None, cell: Cell | None = None
) -> NotebookDetails:
    details = NotebookDetails(
        action=params.action, notebook_path=params.notebook_path, total_cells=len(document.cells), cell_index=index
    )
    if cell is not None:
        details.cell_type, details.cell_source, details.cell_id = cell.cell_type, cell.source, cell.id
    return details


_ACTIONS: Final[dict[NotebookAction, Callable[[Document, NotebookParams], Edited]]] = {
    "edit": _edit,
    "insert": _insert,
    "delete": _delete,
    "move": _move,
    "clear": _clear,
}
EDITING: Final = frozenset(_ACTIONS)
"""The actions that are carried out here."""
REPLACING: Final = frozenset({"edit", "delete"})
"""Those after which the source that a cell had is gone."""
