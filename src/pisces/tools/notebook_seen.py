"""What the caller has seen of one notebook."""

from pathlib import Path

import msgspec

from pisces.files.seen import SeenFiles
from pisces.files.version import FileVersion
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

    def note(self, version: FileVersion) -> None:
        """The owner has read this version."""
        self.files.note(self.owner, self.path, version)

    def wrote(self, file: NotebookFile) -> None:
        """A call of the owner's has changed the file: the owner knows it still, if all changes are the call's own."""
        if file.version is not None and file.comes_from(self.version):
            self.files.wrote(self.owner, self.path, file.version)
