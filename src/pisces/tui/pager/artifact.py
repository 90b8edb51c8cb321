"""What is opened for the pager: the file of an artifact, or of a text that is only in memory."""

import os
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import ArtifactError
from pisces.files.failures import explained
from pisces.output.artifacts import ArtifactStore
from pisces.output.notice import format_size

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
    """An open file. Whoever has it closes the descriptor."""

    title: str
    descriptor: int
    grows: bool
    """Whether somebody may still be writing it."""


def open_artifact(store: ArtifactStore, artifact_id: str) -> Opened:
    """Open an artifact that is text. Raises `PiscesError` for what is not there, and for what is no text."""
    try:
        path = store.path(artifact_id)
    except ArtifactError as error:
        raise ArtifactError(
            f"{error}", hint="Artifacts are deleted after some days (`artifacts.keep_days`); run the cell again."
        ) from None
    with explained(path, "opened"):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _refuse_other_than_text(descriptor, path, artifact_id)
    except BaseException:
        os.close(descriptor)
        raise
    return Opened(f"artifact://{artifact_id}", descriptor, grows=True)


def open_text(title: str, text: str) -> Opened:
    """A text as a file that has no name and is gone when it is closed."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        return Opened(title, os.dup(file.fileno()), grows=False)


def _refuse_other_than_text(descriptor: int, path: Path, artifact_id: str) -> None:
    size = format_size(os.fstat(descriptor).st_size)
    kind = _PICTURES.get(path.suffix.lower())
    if kind is None and b"\0" in os.pread(descriptor, _LOOKED_AT, 0):
        kind = "no text"
    if kind is not None:
        raise ArtifactError(
            f"Artifact {artifact_id} is {kind} of {size}.", hint=f"Open it with a program that shows it: {path}"
        )
