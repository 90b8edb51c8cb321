"""The structured half of what the file tools answer."""

from typing import Literal

import msgspec

FileKind = Literal["text", "notebook", "image", "artifact"]
"""What was read or written. `notebook`: an `.ipynb` as the text of its cells; its JSON is `text`."""


class LineSpan(msgspec.Struct, frozen=True):
    """Lines counted from 1, both ends included."""

    first: int
    last: int


class ReadDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What `read` read; what its kind has not is left out."""

    path: str
    """Absolute; of an artifact its address."""
    kind: FileKind
    bytes: int = 0
    """Of the file; of a notebook too."""
    lines: int | None = None
    """Of the whole text."""
    shown: list[LineSpan] = msgspec.field(default_factory=list)
    truncated: bool = False
    """Whether some of what was asked for is not shown, or not whole."""
    encoding: str = ""
    mime_type: str = ""
    width: int | None = None
    height: int | None = None
    artifact_id: str = ""


class WriteDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What `write` wrote."""

    path: str
    """Absolute."""
    kind: FileKind
    created: bool
    lines: int
    """Of the text that was given."""
    bytes: int
    """Of the file."""
    notes: list[str] = msgspec.field(default_factory=list)


class EditDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What `edit` replaced."""

    path: str
    """Absolute."""
    kind: FileKind
    replacements: int
    changed: list[LineSpan]
    """The lines that came in, of the first ten places."""
    bytes: int
    """Of the file, after it."""
    notes: list[str] = msgspec.field(default_factory=list)
