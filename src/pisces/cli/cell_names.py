"""What cells are called on a terminal: in one line, by their title or by their first line of code."""

import unicodedata
from typing import Final

from pisces.cli.cells_to_run import CellsToRun

_LONGEST: Final = 200


def names_of(wanted: CellsToRun) -> tuple[str, ...]:
    """The names of the cells, or of the one command, of a call."""
    params = wanted.params
    if wanted.sources:
        return tuple(name_of(f"{label}: {_first_line(code)}") for label, code in wanted.sources)
    if "command" in params:
        return (name_of("", str(params["command"])),)
    return tuple(name_of(cell.get("title", ""), cell["code"]) for cell in params.get("cells", ()))


def name_of(title: str, code: str = "") -> str:
    """The title, or the first line of code: one line in which nothing moves the cursor or turns text around."""
    text = title.strip() or _first_line(code)
    return "".join(map(_shown, text[:_LONGEST])).strip()


def _first_line(code: str) -> str:
    return code.strip().partition("\n")[0]


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith("C") else character
