"""Cells of a notebook that a person named, as a call of the `notebook` tool."""

import os
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pisces.cli.cells_to_run import CellsToRun
from pisces.cli.notebook_cells import one_cell, some_cells
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import NotebookFile
from pisces.notebooks.run_plan import RunPlan


def run_notebook(path: str, cells: str | None, until: str | None, wanted: CellsToRun) -> int:
    """Run the cells and return the exit code. Raises `NotebookError`, `InvalidCall`, and what a start may raise."""
    document = NotebookFile(Path(path), path).read()
    which, places = _which(document, path, cells, until)
    session = wanted.params.get("session")
    # The background host is elsewhere, and so is the runtime with --cwd.
    stays = session is None and wanted.cwd is None and not path.startswith("~")
    records = RunPlan.of(document, places).records
    wanted = replace(
        wanted,
        params={**wanted.params, **which, "notebook_path": path if stays else os.path.abspath(path)},
        count=len(records),
        sources=tuple((record.label, record.code) for record in records),
    )
    if session is None:
        from pisces.cli.run_cells import run_cells

        return run_cells(wanted)
    from pisces.cli.run_session import run_in_session

    return run_in_session(wanted)


def _which(document: Document, path: str, cells: str | None, until: str | None) -> tuple[dict[str, Any], range]:
    """The action and its parameters, and the cells that it is about."""
    if until is not None:
        last = one_cell(document.cells, until, path)
        return {"action": "run_until", **_named(document, last)}, range(last + 1)
    places = some_cells(document.cells, cells, path)
    if cells is None:
        return {"action": "run_all"}, places
    if len(places) == 1:
        return {"action": "run", **_named(document, places[0])}, places
    return {"action": "run", "cell_index": places[0], "last_index": places[-1]}, places


def _named(document: Document, place: int) -> dict[str, Any]:
    """One cell, by its id if that is its alone: somebody may add others before the tool looks for it."""
    cell_id = document.cells[place].id
    if cell_id and sum(cell.id == cell_id for cell in document.cells) == 1:
        return {"cell_id": cell_id}
    return {"cell_index": place}
