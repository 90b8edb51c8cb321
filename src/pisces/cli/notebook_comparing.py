"""Two notebooks, and what differs between them, on the terminal."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from pisces.cli.blocking_output import BlockingOutput
from pisces.cli.json_text import json_line
from pisces.cli.main import OUTPUT_CLOSED
from pisces.errors import PiscesError
from pisces.notebooks.cell import Cell
from pisces.notebooks.compare import CellChange, CellLike, compare
from pisces.notebooks.readable import read_notebook
from pisces.render.difference import difference_lines
from pisces.render.screen import Screen

DIFFERENT: Final = 1
_TROUBLE: Final = 2


class Trouble(click.ClickException):
    """A notebook that cannot be read: whether there is a difference is not known, and 1 would say that there is."""

    exit_code = _TROUBLE


def compare_notebooks(old: str, new: str, *, as_json: bool) -> int:
    """Show what differs, and return 1 if anything does. Raises `Trouble`."""
    try:
        changes = compare(_cells(old), _cells(new))
    except PiscesError as error:
        raise Trouble(error.explain()) from error
    output = BlockingOutput()
    if as_json:
        output.write(_as_json(old, new, changes))
    elif changes:
        screen = Screen.of(sys.stdout.fileno(), os.environ)
        lines = [f"--- {old}", f"+++ {new}", *difference_lines(changes, coloured=screen.coloured)]
        output.write("".join(f"{line}\n" for line in lines))
    if output.failure is not None:
        raise Trouble(output.failure.explain())
    if output.closed:
        return OUTPUT_CLOSED
    return DIFFERENT if changes else 0


def _cells(path: str) -> list[CellLike]:
    found, _ = read_notebook(Path(path), path)
    return [_cell(cell, index) for index, cell in enumerate(found.cells)]


def _cell(cell: Cell, index: int) -> CellLike:
    if cell.flaw:  # What no notebook can have is compared as it stands in the file.
        raw = bytes(cell.raw).decode("utf-8")
        return CellLike(index=index, id=None, cell_type="invalid", source=raw)
    metadata = cell.get("metadata", {})
    return CellLike(
        index=index,
        id=cell.id,
        cell_type=cell.cell_type,
        source=cell.source,
        metadata=metadata if isinstance(metadata, dict) else {},
        outputs=cell.outputs if cell.cell_type == "code" else [],
    )


def _as_json(old: str, new: str, changes: Sequence[CellChange]) -> str:
    return json_line({"old": old, "new": new, "changes": [_told(change) for change in changes]})


def _told(change: CellChange) -> dict[str, Any]:
    cell = change.new or change.old
    return {
        "kind": change.kind,
        "cell_id": None if cell is None else cell.id,
        "cell_type": None if cell is None else cell.cell_type,
        "old_index": None if change.old is None else change.old.index,
        "new_index": None if change.new is None else change.new.index,
        "moved": change.moved,
        "notes": list(change.notes),
        "source": list(change.source),
    }
