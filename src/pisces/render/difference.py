"""The differences between two notebooks as lines, with colours where they are wanted."""

from collections.abc import Iterable, Iterator
from typing import Final

from pisces.notebooks.compare import CellChange, as_lines
from pisces.render.terminal_text import visible

_RESET: Final = "\x1b[0m"
_HEADING: Final = "\x1b[1m"
_COLOURS: Final = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
"""By what a line of the source begins with; what both have has none."""


def difference_lines(changes: Iterable[CellChange], *, coloured: bool) -> Iterator[str]:
    """A heading for each cell that differs, then what differs. Control characters are named, not sent."""
    for change in changes:
        made = [visible(line) for line in as_lines([change])]
        source_begins = len(made) - len(change.source)
        for number, line in enumerate(made):
            colour = _HEADING if number == 0 else _COLOURS.get(line[:1], "") if number >= source_begins else ""
            yield f"{colour}{line}{_RESET}" if coloured and colour else line
