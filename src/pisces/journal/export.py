"""A journal as a notebook: the cells that lead to the present state, with their outputs, in nbformat 4.5."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from pisces.errors import FileError, JournalError
from pisces.files.whole_file import locked
from pisces.journal.entries import AnyEntry, SessionBegan
from pisces.journal.history import PastCell, present_cells
from pisces.journal.notebook_outputs import NotebookOutputs
from pisces.journal.reader import read_with_origins

Notebook = dict[str, Any]
"""The JSON of an `.ipynb` file."""

_FAILED: Final = "raises-exception"
"""The tag by which tools that run notebooks know a cell that may fail."""
_DO_NOT_RUN: Final = "skip-execution"
"""The tag by which they know a cell that is not to be run."""
_OWN_END: Final = frozenset({"ok", "error"})


class Exported(msgspec.Struct, frozen=True):
    """What an export wrote."""

    path: Path
    cells: int
    unreadable: int = 0
    """Lines of the journal that are damaged, or of a newer version."""
    missing: tuple[str, ...] = ()
    """Journals of the origins of a branch that are no longer there: their cells are not in the notebook."""


def notebook(entries: Iterable[AnyEntry]) -> Notebook:
    """The notebook of some entries: run from top to bottom, it leads to the present state.

    Cells that were taken back are left out. A cell that failed is tagged `raises-exception`; one that did not come to
    its own end (the kernel died, it was interrupted, it ran out of time, it still runs) also `skip-execution`.
    """
    entries = list(entries)
    outputs = NotebookOutputs()
    cells = [_cell(number, cell, outputs) for number, cell in enumerate(present_cells(entries), 1)]
    return {"cells": cells, "metadata": _metadata(entries), "nbformat": 4, "nbformat_minor": 5}


def export_notebook(journal: Path, target: Path) -> Exported:
    """Write the notebook of a journal, and of the sessions that it is a branch of, to a file: all of it or nothing.

    A file that is there is replaced. Raises `JournalError` when the journal cannot be read or the file not be written.
    """
    reading = read_with_origins(journal)
    made = notebook(reading.entries)
    try:
        with locked(target) as file:
            file.replace([_file_of(made)])
    except FileError as error:
        cause = error.__cause__
        why = cause.strerror if isinstance(cause, OSError) else error
        raise JournalError(
            f"The notebook could not be written to {target}: {why}",
            hint="Name a file in a folder that exists and that you may write to.",
        ) from error
    return Exported(target, len(made["cells"]), reading.torn + reading.unknown, reading.missing)


def notebook_file(journal: Path) -> bytes:
    """What an export of a journal would write. Raises `JournalError` when it cannot be read."""
    return _file_of(notebook(read_with_origins(journal).entries))


def _file_of(made: Notebook) -> bytes:
    return (json.dumps(made, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _cell(number: int, cell: PastCell, outputs: NotebookOutputs) -> dict[str, Any]:
    ended = cell.ended
    return {
        "cell_type": "code",
        "id": f"cell-{number}",
        "metadata": _cell_metadata(cell),
        "execution_count": ended.execution_count if ended else None,
        "source": cell.began.code,
        "outputs": outputs.of(cell),
    }


def _cell_metadata(cell: PastCell) -> dict[str, Any]:
    ended = cell.ended
    outcome = ended.outcome if ended else "unfinished"
    own: dict[str, Any] = {"outcome": outcome, "began": cell.began.time}
    if ended is not None:
        own["duration_ms"] = ended.duration_ms
    if cell.lost:
        own["lost"] = True
    metadata: dict[str, Any] = {"pisces": own}
    if cell.began.title:
        metadata["title"] = cell.began.title
    tags = [tag for tag, wanted in ((_FAILED, outcome != "ok"), (_DO_NOT_RUN, outcome not in _OWN_END)) if wanted]
    if tags:
        metadata["tags"] = tags
    return metadata


def _metadata(entries: list[AnyEntry]) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    sessions = [entry for entry in entries if isinstance(entry, SessionBegan)]
    if sessions and sessions[-1].kernelspec:
        name = sessions[-1].kernelspec
        metadata = {
            "kernelspec": {"display_name": name, "name": name}
        }  # Which language that is, the journal cannot say.
    if sessions:
        metadata["pisces"] = {"session": sessions[-1].session, "version": sessions[-1].version}
    return metadata
