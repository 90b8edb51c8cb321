"""Whether a person watches at a terminal, and how to show a run to them.

Nothing here is loaded where the output goes to a file or a pipe.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from pisces.cli.live_screen import Ended, LiveScreen, Signs
from pisces.model.cells import CellStatus
from pisces.model.results import Details, ToolResult
from pisces.render.screen import Screen

_USUAL_SIZE: Final = (80, 24)
_NARROWEST: Final = 4
_WORDS: Final = {"ok": "", "error": "failed", "timeout": "timed out"}
"""What an outcome is called at the end of a cell, where its own name is not the word for it."""


def screen_for(names: Sequence[str], descriptor: int, encoding: str, environ: Mapping[str, str]) -> LiveScreen | None:
    """The screen for a run at this terminal; None if it can only take text."""
    can = Screen.of(descriptor, environ)
    signs = Signs.of(encoding, coloured=can.coloured)
    if not can.styled:
        return None
    return LiveScreen(names, lambda: size_of(descriptor), signs, is_ours=lambda: in_foreground(descriptor))


def size_of(descriptor: int) -> tuple[int, int]:
    """Columns and rows of a terminal, as they are now."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        return _USUAL_SIZE
    return max(_NARROWEST, columns or _USUAL_SIZE[0]), rows or _USUAL_SIZE[1]


def in_foreground(descriptor: int) -> bool:
    """Whether the terminal is ours to draw on; in the background it is the shell's, and only output goes there."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return True  # It is not the terminal that started us, so no shell shares it with us.


def ended(status: CellStatus, duration_ms: float | None) -> Ended:
    """The end of a cell after which another one ran."""
    return Ended(status, duration_ms, "" if status == "complete" else "failed")


def how_it_ended(result: ToolResult, cell: int | None) -> Ended | None:
    """How the cell ended that was the last to run; None when none was."""
    details = result.details
    if cell is None:
        return None
    if not isinstance(details, Details) or cell >= len(details.cells):
        return Ended("error", word=details.outcome if isinstance(details, Details) else "failed")
    record = details.cells[cell]
    if details.job is not None and details.job.state == "running":
        return None  # What there is to say of it says so.
    if record.status == "complete":
        return Ended("complete", record.duration_ms)
    word = _WORDS.get(details.outcome, details.outcome)
    if word == "failed" and record.exit_code == 0:
        word = "exited with code 0"
    elif word == "failed" and record.exit_code not in (None, 1):
        word = f"failed, exit code {record.exit_code}"
    return Ended("error", record.duration_ms, word or "failed")
