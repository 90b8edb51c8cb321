"""Which cells a command is to run, and how their end becomes an exit code, wherever they run."""

import os
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from pisces.cli.main import FAILED
from pisces.model.results import Details, ToolResult

READ_WITH: Final = "Run `pisces artifact {id}`"
Show = Literal["live", "whole", "json"]
"""Output while it comes, the result at its end as an agent gets it, or all of it as JSON."""

TIMED_OUT: Final = 124
EXIT_CODES: Final = {"ok": 0, "timeout": TIMED_OUT, "interrupted": 130, "aborted": 130}
"""By outcome; every other one is a failure."""


class CellsToRun(msgspec.Struct, frozen=True, kw_only=True):
    """What `pisces run`, `pisces notebook run` or `pisces bash` was asked for."""

    cwd: str | None
    settings: dict[str, Any]
    params: Mapping[str, Any]
    """The parameters of the tool."""
    count: int = 1
    """How many cells there are: each has a heading where there are several."""
    tool: str = "python"
    keep_going: bool = False
    show: Show = "live"
    plain: bool = False
    """Text only, also at a terminal."""
    sources: tuple[tuple[str, str], ...] = ()
    """What each cell is called, and its code, where that is not among the parameters."""

    @property
    def is_watched(self) -> bool:
        """Whether a person sees it run, and not only its text."""
        return self.show == "live" and not self.plain and os.isatty(1)


def exit_code(result: ToolResult, *, tool: str = "python") -> int:
    """What the command exits with; after a command of the shell, that is the exit code of its own."""
    if not isinstance(result.details, Details):
        return FAILED if result.is_error else 0
    if tool == "bash" and result.details.cells and result.details.cells[0].exit_code is not None:
        return result.details.cells[0].exit_code
    code = EXIT_CODES.get(result.details.outcome, FAILED)
    return code or (FAILED if result.is_error else 0)


def from_here(interpreter: str) -> str:
    """A path that the user typed counts from the folder they are in, not from --cwd."""
    if os.sep not in interpreter or interpreter.startswith("~") or os.path.isabs(interpreter):
        return interpreter
    return os.path.join(os.getcwd(), interpreter)
