"""Changes to a notebook, in this process and without a kernel: the actions of the `notebook` tool that change cells."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pisces.cli.notebook_cells import one_cell, some_cells
from pisces.errors import NotebookError
from pisces.files.whole_file import locked
from pisces.model.results import TextBlock, ToolResult
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import EMPTY, Document
from pisces.notebooks.notebook_file import CellRef, NotebookFile
from pisces.tools.notebook_edit import edited
from pisces.tools.notebook_params import parse

Where = Callable[[Document], dict[str, Any]]
"""Finds in a notebook what a change is about, as parameters of the tool."""


def change(path: str, action: str, where: Where, **params: Any) -> int:
    """Make the change, say what was done, and return the exit code. Raises `NotebookError` and `FileError`."""
    done = ToolResult(content=[])
    language = ""

    def make(document: Document) -> Document:
        nonlocal done, language
        given = {"action": action, "notebook_path": path, **where(document), **params}
        wanted = parse({name: value for name, value in given.items() if value is not None})
        changed, said, details = edited(document, wanted)
        done, language = ToolResult(content=[TextBlock(said)], details=details), _language(changed)
        return changed

    _file(path).change(make)
    _show(done, language)
    return 0


def make_notebook(path: str) -> None:
    """Make an empty notebook, if there is no file of that name. Raises `FileError`."""
    with locked(Path(path)) as file:
        if file.version is None:
            file.replace([EMPTY])


def at_cell(path: str, cell: str) -> Where:
    """The cell of this number or id."""
    return lambda document: {"cell_index": one_cell(document.cells, cell, path)}


def at_cells(path: str, cells: str | None) -> Where:
    """All cells, or some."""
    if cells is None:
        return lambda document: {}

    def find(document: Document) -> dict[str, Any]:
        places = some_cells(document.cells, cells, path)
        return {"cell_index": places[0], "last_index": places[-1] if len(places) > 1 else None}

    return find


def at_new(path: str, at: int | None, after: str | None) -> Where:
    """The place for a new cell."""
    if after is None:
        return lambda document: {"cell_index": at}
    return lambda document: {"cell_index": one_cell(document.cells, after, path) + 1}


def edit_by_hand(path: str, cell: str, **params: Any) -> int:
    """Have the user edit the source of a cell in an editor. Raises `NotebookError` when the cell changed meanwhile."""
    from pisces.cli.notebook_editor import EditedText, suffix_of

    document = _file(path).read()
    index = one_cell(document.cells, cell, path)
    found, meant = document.cells[index], CellRef.of(document, index)
    name = f"cell-{index}{suffix_of(params.get('cell_type') or found.cell_type, _language(document))}"
    with EditedText(found.source, name, os.environ) as text:
        source = text.edit()
        if source == found.source and not _changes_more(found, params):
            click.echo(f"Cell {index} is unchanged; nothing was written.")
            return 0

        def where(now: Document) -> dict[str, Any]:
            place = meant.find(now)
            if place is None:
                raise NotebookError(
                    f"Cell {index} was changed by somebody else while you edited it: {path}",
                    hint=f"Nothing was written. Your text is in {text.path}",
                )
            return {"cell_index": place}

        return change(path, "edit", where, content=source, **params)


def insert_by_hand(path: str, at: int | None, after: str | None, cell_type: str | None) -> int:
    """Have the user write a new cell in an editor."""
    from pisces.cli.notebook_editor import EditedText, suffix_of

    document, where = _file(path).read(), at_new(path, at, after)
    where(document)
    with EditedText("", f"new-cell{suffix_of(cell_type or 'code', _language(document))}", os.environ) as text:
        source = text.edit()
        if not source:
            click.echo("The text is empty; nothing was written.")
            return 0
        return change(path, "insert", where, content=source, cell_type=cell_type)


def _show(done: ToolResult, language: str) -> None:
    """A sentence, or at a terminal a block with the source."""
    from pisces.render.screen import Screen

    if not Screen.of(sys.stdout.fileno(), os.environ).styled:
        click.echo(done.text)
        return
    from pisces.cli.final_block import FinalBlock

    click.echo(FinalBlock(sys.stdout.fileno(), sys.stdout.encoding).notebook(done, language), nl=False)


def _changes_more(cell: Cell, params: dict[str, Any]) -> bool:
    """Whether a change is about more than the source."""
    return params.get("cell_type") not in (None, cell.cell_type) or bool(params.get("clear_outputs"))


def _language(document: Document) -> str:
    from pisces.render.blocks import language_of

    return language_of(document.metadata)


def _file(path: str) -> NotebookFile:
    return NotebookFile(Path(path), path)
