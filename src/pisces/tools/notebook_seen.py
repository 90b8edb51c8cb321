"""What the caller has seen of one notebook."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from pisces.errors import FileChanged, FileError
from pisces.files.seen import SeenFiles
from pisces.files.version import FileVersion
from pisces.model.notebooks import NotebookDetails
from pisces.notebooks.cell import Cell
from pisces.notebooks.cell_view import key_of, keys_of
from pisces.notebooks.notebook_file import NotebookFile
from pisces.output.sanitize import clean


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

    def note(self, version: FileVersion, details: NotebookDetails, whole: Iterable[int]) -> None:
        """The owner has read these cells of this version, and seen the whole source of those with these keys."""
        parts = {cell.cell_id: _state(cell.cell_type, cell.cell_source) for cell in details.cells if cell.cell_id}
        self.files.note(self.owner, self.path, version, parts, cells=whole)

    def must_know(self, cell: Cell, shown: str) -> None:
        """Raises `FileChanged` when the owner has read this cell, and it says something else now."""
        known = None if cell.id is None else self.files.part(self.owner, self.path, cell.id)
        if known is not None and (cell.flaw or known != _state(cell.cell_type, cell.source)):
            raise FileChanged(
                f"The cell {cell.id!r} of {shown} has changed on disk since it was read; nothing was done.",
                hint="Read it again.",
            )

    def must_be_whole(self, cells: Sequence[Cell], index: int, shown: str) -> None:
        """Raises `FileError` when the owner has read this cell, and was shown only a part of it."""
        cell = cells[index]
        if cell.id is None or cell.flaw or self.files.part(self.owner, self.path, cell.id) is None:
            return
        # With characters that no result shows, a cell never counts as shown whole.
        can_be_shown = clean(cell.source) == cell.source
        if can_be_shown and keys_of(cells)[index] not in self.files.cells(self.owner, self.path):
            raise FileError(
                f"Only a part of cell {index} of {shown} was shown to you, and `edit` replaces all of it; "
                "nothing was done.",
                hint="Read it alone and whole first, or change a part of the file with the tool `edit` or with Python.",
            )

    def must_have_no_notice(self, content: str) -> None:
        """Raises `FileError` when a line of the content is a notice that the owner got below something that it read."""
        notice = self.files.notice_in(self.owner, content)
        if notice is not None:
            raise FileError(
                f"The text has the line {notice!r}, which is a notice and not in any cell; nothing was done.",
                hint="Leave the line out, and read what it says was not shown.",
            )

    def wrote(self, file: NotebookFile, details: NotebookDetails | None = None, *, gave_source: bool = False) -> None:
        """A call of the owner's has changed the file: the owner knows it still, if all changes are the call's own.

        The cell that the details are of it knows in any case; if it gave the source, it has seen all of that.
        """
        parts, cells = {}, []
        if details is not None and details.cell_id and details.cell_type and details.cell_source is not None:
            parts[details.cell_id] = _state(details.cell_type, details.cell_source)
            if gave_source:
                cells.append(key_of(details.cell_id, details.cell_type, details.cell_source))
        is_own = file.version is not None and file.comes_from(self.version)
        self.files.wrote(self.owner, self.path, file.version if is_own else None, parts, cells=cells)


def _state(cell_type: str, source: str) -> int:
    """What tells whether a cell says the same. Outputs do not count: runs change them all the time."""
    return hash((cell_type, source))
