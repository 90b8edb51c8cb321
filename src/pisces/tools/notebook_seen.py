"""What the caller has seen of one notebook."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from pisces.errors import FileChanged, FileError
from pisces.files.seen import ALL, SeenFiles
from pisces.files.version import FileVersion
from pisces.model.notebooks import NotebookDetails
from pisces.notebooks.cell import Cell
from pisces.notebooks.cell_view import key_of, keys_of
from pisces.notebooks.notebook_file import NotebookFile
from pisces.output.sanitize import clean


class Seen(msgspec.Struct, frozen=True):
    """One file, for one reader."""

    files: SeenFiles
    reader: str
    path: Path
    """Where it is, symbolic links followed."""

    @property
    def version(self) -> FileVersion | None:
        """The version that the reader has read, or made since; None if it has read none."""
        return self.files.version(self.reader, self.path)

    def note(self, version: FileVersion, details: NotebookDetails, whole: Iterable[int]) -> None:
        """The reader has read these cells of this version, and seen the whole source of those with these keys."""
        parts = {cell.cell_id: _state(cell.cell_type, cell.cell_source) for cell in details.cells if cell.cell_id}
        self.files.note(self.reader, self.path, version, parts, cells=whole)

    def must_know(self, cell: Cell, shown: str) -> None:
        """Raises `FileChanged` when the reader has read this cell, and it says something else now."""
        known = None if cell.id is None else self.files.part(self.reader, self.path, cell.id)
        if known is not None and (cell.flaw or known != _state(cell.cell_type, cell.source)):
            raise FileChanged(
                f"The cell {cell.id!r} of {shown} has changed on disk since it was read; nothing was done.",
                hint="Read it again.",
            )

    def must_be_whole(self, cells: Sequence[Cell], index: int, shown: str) -> None:
        """Raises `FileError` when the reader has read something of the file, but not all of this cell."""
        cell = cells[index]
        if cell.flaw or self.version is None or self.files.lines(self.reader, self.path) == ALL:
            return
        # With characters that no result shows, a cell never counts as shown whole.
        can_be_shown = clean(cell.source) == cell.source
        if can_be_shown and keys_of(cells)[index] not in self.files.cells(self.reader, self.path):
            raise FileError(
                f"You have not seen all of cell {index} of {shown}, and `edit` replaces it; nothing was done.",
                hint="Read it alone and whole first, or change a part of the file with the tool `edit` or with Python.",
            )

    def must_have_no_notice(self, content: str) -> None:
        """Raises `FileError` when a line of the content is a notice that the reader got below what it had read."""
        notice = self.files.notice_in(self.reader, content)
        if notice is not None:
            raise FileError(
                f"The text has the line {notice!r}, which is a notice and not in any cell; nothing was done.",
                hint="Leave the line out, and read what it says was not shown.",
            )

    def wrote(self, file: NotebookFile, details: NotebookDetails | None = None, *, gave_source: bool = False) -> None:
        """A call of the reader's has changed the file: the reader knows it still, if all changes are the call's own.

        The cell that the details are of it knows in any case; if it gave the source, it has seen all of that.
        """
        parts, cells = {}, []
        if details is not None and details.cell_type and details.cell_source is not None:
            if details.cell_id:
                parts[details.cell_id] = _state(details.cell_type, details.cell_source)
            if gave_source:
                cells.append(key_of(details.cell_id, details.cell_type, details.cell_source))
        is_own = file.version is not None and file.comes_from(self.version)
        self.files.wrote(self.reader, self.path, file.version if is_own else None, parts, cells=cells)


def _state(cell_type: str, source: str) -> int:
    """What tells whether a cell says the same. Outputs do not count: runs change them all the time."""
    return hash((cell_type, source))
