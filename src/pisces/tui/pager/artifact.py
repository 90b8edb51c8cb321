"""What is opened for the pager: the file of an artifact, or of a text that is only in memory."""

import os
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import ArtifactError
from pisces.files.failures import explained
from pisces.output.artifact_file import Section, end_of_files
from pisces.output.artifact_file import open_artifact as open_artifact_files
from pisces.output.artifacts import ArtifactStore
from pisces.output.notice import format_size
from pisces.tui.pager.rows import Parts

_PICTURES: Final = {
    ".svg": "a drawing (SVG)",
    ".png": "a picture",
    ".jpg": "a picture",
    ".jpeg": "a picture",
    ".gif": "a picture",
    ".webp": "a picture",
    ".pdf": "a PDF document",
}
_LOOKED_AT: Final = 8192


class Opened(msgspec.Struct, frozen=True):
    """Open files. The caller closes them."""

    title: str
    parts: Parts
    path: Path | None = None
    """The artifact, which somebody may still be writing."""
    newest: int = 0
    """Which file of the artifact was the newest one."""

    def close(self) -> None:
        """Close them."""
        for descriptor in self.parts.descriptors:
            os.close(descriptor)

    @property
    def goes_on(self) -> bool:
        """Whether the writer has begun another file of the artifact, which is not open here."""
        return self.path is not None and end_of_files(self.path) > self.newest


def open_artifact(store: ArtifactStore, artifact_id: str) -> Opened:
    """Open an artifact that is text. Raises `PiscesError` for what is not there, and for what is no text."""
    path = store.path(artifact_id)
    with explained(path, "opened"), open_artifact_files(path) as sections:
        _refuse_other_than_text(sections[0].file.fileno(), path, artifact_id)
        parts = _parts_of(sections)
        newest = sections[-1].byte + parts.starts[-1] - parts.starts[-len(sections[-1].files)]
    return Opened(f"artifact://{artifact_id}", parts, path, newest)


def open_text(title: str, text: str) -> Opened:
    """A text as a file that has no name and is gone when it is closed."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        return Opened(title, Parts((os.dup(file.fileno()),)))


def _parts_of(sections: list[Section]) -> Parts:
    """The files of an artifact, with a note where something is missing."""
    parts: list[tuple[int, int, int | None]] = []
    start = 0
    for section in sections:
        for number, file in enumerate(section.files):
            parts.append((os.dup(file.fileno()), start, None if number else section.line - 1))
            start += os.fstat(file.fileno()).st_size
        if section is not sections[-1]:
            end = sections[-1].line - (not sections[-1].cut)
            note = f"[…what follows up to line {end} is missing: the output was too large to be kept whole…]\n"
            (descriptor,) = open_text("", note).parts.descriptors
            parts.append((descriptor, start, None))
            start += os.fstat(descriptor).st_size
    return Parts(*zip(*parts, strict=True))


def _refuse_other_than_text(descriptor: int, path: Path, artifact_id: str) -> None:
    size = format_size(os.fstat(descriptor).st_size)
    kind = _PICTURES.get(path.suffix.lower())
    if kind is None and b"\0" in os.pread(descriptor, _LOOKED_AT, 0):
        kind = "no text"
    if kind is not None:
        raise ArtifactError(
            f"Artifact {artifact_id} is {kind} of {size}.", hint=f"Open it with a program that shows it: {path}"
        )
