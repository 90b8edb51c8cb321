"""What the caller has seen of one notebook."""

from pathlib import Path

import msgspec

from pisces.errors import FileChanged
from pisces.files.seen import SeenFiles
from pisces.files.version import FileVersion
from pisces.model.notebooks import NotebookDetails
from pisces.notebooks.cell import Cell
from pisces.notebooks.notebook_file import NotebookFile


class Seen(msgspec.Struct, frozen=True):
    """One file, for one owner."""

    files: SeenFiles
    owner: str
    path: Path
    """Where it is, symbolic links followed."""

    @property
    def version(self) -> FileVersion | None:
        """The version that the owner has read, or made since; None if it has read none."""
        return self.files.version(self.owner, self.path)

    def note(self, version: FileVersion, details: NotebookDetails) -> None:
        """The owner has read these cells of this version."""
        cells = {cell.cell_id: _state(cell.cell_type, cell.cell_source) for cell in details.cells if cell.cell_id}
        self.files.note(self.owner, self.path, version, cells)

    def must_know(self, cell: Cell, shown: str) -> None:
        """Raises `FileChanged` when the owner has read this cell, and it says something else now."""
        known = None if cell.id is None else self.files.part(self.owner, self.path, cell.id)
        if known is not None and (cell.flaw or known != _state(cell.cell_type, cell.source)):
            raise FileChanged(
                f"The cell {cell.id!r} of {shown} has changed on disk since it was read; nothing was done.",
                hint="Read it again.",
            )

    def wrote(self, file: NotebookFile, details: NotebookDetails | None = None) -> None:
        """A call of the owner's has changed the file: the owner knows it still, if all changes are the call's own.

        The cell that the details are of it knows in any case.
        """
        cells = {}
        if details is not None and details.cell_id and details.cell_type and details.cell_source is not None:
            cells[details.cell_id] = _state(details.cell_type, details.cell_source)
        is_own = file.version is not None and file.comes_from(self.version)
        self.files.wrote(self.owner, self.path, file.version if is_own else None, cells)


def _state(cell_type: str, source: str) -> int:
    """What tells whether a cell says the same. Outputs do not count: runs change them all the time."""
    return hash((cell_type, source))
