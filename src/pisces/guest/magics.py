"""The table of magics: finds the function for `%name` or `%%name` and calls it.

The functions live in the modules `magics_*`, each imported when one of its magics is first used. A line magic takes
(shell, line), a cell magic (shell, line, cell).
"""

from __future__ import annotations

import sys
from importlib import import_module

from .tracebacks import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .builtin_shell import BuiltinShell

_LINE = {
    "cd": "magics_system.cd",
    "env": "magics_system.env",
    "load": "magics_files.load",
    "ls": "magics_system.ls",
    "lsmagic": "magics_help.lsmagic",
    "pinfo": "magics_help.pinfo",
    "pinfo2": "magics_help.pinfo2",
    "pip": "magics_system.pip",
    "psearch": "magics_help.psearch",
    "pwd": "magics_system.pwd",
    "reset": "magics_namespace.reset",
    "run": "magics_files.run",
    "set_env": "magics_system.set_env",
    "time": "magics_timing.time",
    "timeit": "magics_timing.timeit",
    "who": "magics_namespace.who",
    "whos": "magics_namespace.whos",
}
_CELL = {
    "bash": "magics_system.bash",
    "capture": "magics_output.capture",
    "sh": "magics_system.sh",
    "time": "magics_timing.time_cell",
    "timeit": "magics_timing.timeit_cell",
    "writefile": "magics_files.writefile",
}
_AS_WRITTEN = frozenset({"pinfo", "pinfo2", "pip", "psearch", "time", "timeit"})
"""Magics whose line is code or no shell text: `{…}` and `$name` in it mean nothing to us."""


def run_line(shell: BuiltinShell, name: str, line: str) -> Any:
    """Run `%name line`; raises UsageError where there is no such magic."""
    function = find_line(name)
    return function(shell, _expanded(shell, name, line))


def run_cell(shell: BuiltinShell, name: str, line: str, cell: str) -> Any:
    """Run `%%name line` on the rest of its cell; raises UsageError where there is no such magic."""
    function = find_cell(name)
    return function(shell, _expanded(shell, name, line), cell)


def find_line(name: str) -> Callable[..., Any]:
    """The function of a line magic."""
    if name in _LINE:
        return _resolved(_LINE[name])
    message = f"Line magic function `%{name}` not found."
    if name.lstrip("%") in _CELL:
        cell_name = name.lstrip("%")
        raise UsageError(f"{message} `%%{cell_name}` works on a whole cell: make it the cell's first line.")
    raise UsageError(message + _suggestion(name, _LINE, "%"))


def find_cell(name: str) -> Callable[..., Any]:
    """The function of a cell magic."""
    if name in _CELL:
        return _resolved(_CELL[name])
    message = f"Cell magic `%%{name}` not found."
    if name in _LINE:
        raise UsageError(f"{message} `%{name}` works on its own line: did you mean that?")
    raise UsageError(message + _suggestion(name, _CELL, "%%"))


def names() -> tuple[list[str], list[str]]:
    """The names of all line magics and of all cell magics."""
    return sorted(_LINE), sorted(_CELL)


def _resolved(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(".")
    function: Callable[..., Any] = getattr(import_module("." + module, __package__), name)
    return function


def _expanded(shell: BuiltinShell, name: str, line: str) -> str:
    if name in _AS_WRITTEN:
        return line
    from .commands import expand

    # Three calls up is the code that the magic stands in: this function, run_line or run_cell, the shell's method.
    return expand(line, shell.namespace, sys._getframe(3))


def _suggestion(name: str, known: Iterable[str], sign: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    if near:
        return f" Did you mean `{sign}{near[0]}`?"
    return f" Known are: {' '.join(sign + one for one in sorted(known))}."
