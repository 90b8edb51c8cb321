"""Files that are shown and taken as another text than their own: notebooks, as the text of their cells."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

from pisces.errors import FileError
from pisces.files.selector import Selection
from pisces.files.unfinished import Piece
from pisces.output.artifact_text import LineRange


class Part(Protocol):
    """A part of such a text that stands for itself: a cell."""

    @property
    def key(self) -> int:
        """What tells it from all others, and one state of it from another."""
        ...

    @property
    def lines(self) -> LineRange:
        """Where it is in the text."""
        ...


class Change(Protocol):
    """What a text makes of a file."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """The bytes of the new file, in order."""
        ...

    @property
    def notes(self) -> list[str]:
        """What to tell whoever sent the text."""
        ...

    @property
    def touched(self) -> Sequence[Part]:
        """The parts of the old file that are removed, or changed."""
        ...

    @property
    def keys(self) -> Sequence[int]:
        """The keys of all parts of the new file."""
        ...

    @property
    def made(self) -> Sequence[int]:
        """The places, in the new file, of the parts that are changed or added."""
        ...


class TextView(Protocol):
    """A kind of file that has a text to edit beside its own."""

    def view(self, data: bytes, path: str) -> tuple[str, Sequence[Part]]:
        """The text of a file, and its parts."""
        ...

    def with_text(self, data: bytes | None, text: str, path: str) -> Change:
        """What a text makes of a file, or of none."""
        ...


class _Notebooks:
    """Notebooks as the text of their cells. What works on them is loaded when one is met."""

    def view(self, data: bytes, path: str) -> tuple[str, Sequence[Part]]:
        from pisces.notebooks.cell_view import view_and_cells

        return view_and_cells(data, path)

    def with_text(self, data: bytes | None, text: str, path: str) -> Change:
        from pisces.notebooks.cell_view import with_text

        return with_text(data, text, path)


_VIEWS: Final[dict[str, TextView]] = {".ipynb": _Notebooks()}
"""By the end of the name. A new kind of file with a text of its own is a line here."""


def view_of(path: Path, selection: Selection) -> TextView | None:
    """The other text of a file; None for one that is its own text, and where `raw` was asked for."""
    return None if selection.raw else _VIEWS.get(path.suffix.lower())


def check_of(path: Path) -> Callable[[bytes], None] | None:
    """What has to be true of the bytes of a file that is written as it is; None for most files."""
    if path.suffix.lower() not in _VIEWS:
        return None

    def check(data: bytes) -> None:
        try:
            json.loads(data)
        except (ValueError, RecursionError) as error:
            raise FileError(
                f"{path} would not be JSON any more: {error}; nothing was written.",
                hint="Mend the text, or leave `:raw` out to edit the cells as text.",
            ) from None

    return check
