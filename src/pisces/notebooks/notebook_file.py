"""A notebook on disk: read as one version of it, changed under a lock, and never half written."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from pisces.errors import FileChanged, FileMissing, NotebookError
from pisces.files.whole_file import FileVersion, locked, read_whole
from pisces.notebooks.document import Document
from pisces.notebooks.settling import once_settled

Edit = Callable[[Document], Document]
_TRIES = 10
"""How often a change is made anew because another program, which knows no lock, wrote the file meanwhile."""


class NotebookFile:
    """One notebook. All of it blocks: use a thread."""

    def __init__(self, path: Path, shown: str, *, while_waiting: Callable[[], None] | None = None) -> None:
        """`shown` is what errors call it: the path as it was given. `while_waiting` is that of `locked`."""
        self.path = path
        self.shown = shown
        self.version: FileVersion | None = None
        """The version that was read or written last."""
        self._known: set[FileVersion] = set()
        """The version that was found on disk last, and all that were made of it here."""
        self._document: Document | None = None
        self._while_waiting = while_waiting

    def read(self) -> Document:
        """The notebook as it is now. Raises `NotebookError` and `FileError`."""
        return once_settled(self.path, self._read)

    def _read(self) -> Document:
        try:
            data, version = read_whole(self.path)
        except FileMissing:
            raise self._missing() from None
        return self._found(data, version)

    def change(self, edit: Edit, *, unless_changed_since: FileVersion | None = None) -> Document:
        """Put a change into the file: it is made to what is there now, and nobody else writes meanwhile.

        An error that the change raises leaves the file as it is, and so does a change that changes nothing. Raises
        `FileChanged` when the file is not the version that it must be.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                return once_settled(self.path, partial(self._change, edit, unless_changed_since))
            except FileChanged:
                if unless_changed_since is not None or not tries_left:
                    raise
        raise AssertionError("the last try raises")

    def must_be(self, expected: FileVersion | None) -> None:
        """Raises `FileChanged` when what was read last is not the version that somebody counts on."""
        if expected is not None and self.version != expected:
            raise FileChanged(
                f"{self.shown} has changed on disk since it was read; nothing was done.",
                hint="Read it again: cells may have other numbers now.",
            )

    def comes_from(self, version: FileVersion | None) -> bool:
        """Whether nobody else has changed it since that version: all that came after it was made here."""
        return version in self._known

    def _change(self, edit: Edit, expected: FileVersion | None) -> Document:
        with locked(self.path, while_waiting=self._while_waiting) as file:
            if file.version is None:
                raise self._missing()
            document = self._document
            if document is None or self.version != file.version:
                document = self._found(file.read(), file.version)
            self.must_be(expected)
            changed = edit(document)
            if changed is not document:
                self.version = file.replace(changed.pieces)
                self._known.add(self.version)
                self._document = changed
            return changed

    def _found(self, data: bytes, version: FileVersion) -> Document:
        """Somebody else wrote this, as far as is known here."""
        self._document = Document.parse(data, self.shown)
        self.version, self._known = version, {version}
        return self._document

    def _missing(self) -> NotebookError:
        return NotebookError(f"Notebook not found: {self.shown}")


class CellRef(msgspec.Struct, frozen=True):
    """A cell of a notebook that may be edited by others meanwhile."""

    index: int
    id: str | None
    source: str
    execution_count: int | None = None
    """That of before the run."""

    @classmethod
    def of(cls, document: Document, index: int) -> "CellRef":
        """A reference to a cell of this notebook."""
        cell = document.cells[index]
        return cls(index, cell.id, cell.source, cell.execution_count)

    def find(self, document: Document) -> int | None:
        """Where the cell is now; None if it is gone, or its source is another one."""
        cells = document.cells
        if self.index < len(cells) and self._is(document, self.index):
            return self.index
        found = [index for index in range(len(cells)) if self._is(document, index)]
        return found[0] if len(found) == 1 else None

    def _is(self, document: Document, index: int) -> bool:
        cell = document.cells[index]
        return not cell.flaw and cell.id == self.id and cell.source == self.source
