"""Notebooks in lines: hear their cells, change one, run them. The file is saved with every change."""

import os
from typing import TYPE_CHECKING, Any

from pisces.errors import InvalidCall
from pisces.tui.plain.typed_numbers import typed_number

if TYPE_CHECKING:
    from pisces.tui.plain.talk import Talk


def open_notebook(talk: "Talk", path: str) -> None:
    """Open one from now on, and say what is in it."""
    if not path:
        raise InvalidCall("Which notebook? Give the path of an .ipynb.")
    talk.notebook = os.path.abspath(os.path.join(talk.desk.options.cwd, os.path.expanduser(path)))
    show(talk, "")


def show(talk: "Talk", number: str) -> None:
    """All cells in short, or one in full."""
    which = {"cell_index": _index(number), "outputs": "full"} if number else {}
    _tell(talk, "read", **which)


def run(talk: "Talk", number: str) -> None:
    """Run a cell, or all. What they say is said, and saved."""
    which: dict[str, Any] = (
        {"action": "run_all"} if number == "all" else {"action": "run", "cell_index": _index(number)}
    )
    talk.run("notebook", notebook_path=_path(talk), session=talk.desk.session, **which)


def edit(talk: "Talk", number: str) -> None:
    """Another source for a cell."""
    place = _index(number)
    _tell(talk, "edit", cell_index=place, content=talk.lines_until_a_dot())


def insert(talk: "Talk", number: str) -> None:
    """A new cell of code."""
    place = _index(number)
    _tell(talk, "insert", cell_index=place, content=talk.lines_until_a_dot())


def _tell(talk: "Talk", action: str, **params: Any) -> None:
    talk.speech.say(talk.call("notebook", action=action, notebook_path=_path(talk), **params).text)


def _path(talk: "Talk") -> str:
    if talk.notebook is None:
        raise InvalidCall("No notebook is open: :notebook PATH opens one.")
    return talk.notebook


def _index(number: str) -> int:
    given = f", not {number[:80]!r}" if number else ""
    return typed_number(number, f"Which cell? Give its number, from 0 on{given}.")
