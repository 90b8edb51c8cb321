"""From an exception that ended a cell to the outcome of that cell."""

from __future__ import annotations

import sys
from types import TracebackType

from . import memory_limit
from .own_frames import leave_out_helpers
from .shell_contract import ERROR, CellOutcome
from .stdlib import os
from .tracebacks import code_of, describe

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def outcome_of(error: BaseException) -> CellOutcome:
    """How a cell ended that raised this; it becomes `sys.last_value`, as in the interactive interpreter."""
    memory_limit.ease()
    leave_out_helpers(error.__traceback__)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.last_exc = error  # type: ignore[attr-defined]  # Where debuggers look from 3.12 on.
    ename, evalue, lines = describe(error)
    if issubclass(type(error), KeyboardInterrupt):  # Not `isinstance`, which asks the exception too.
        return CellOutcome.interrupted(lines)
    exit_code = _exit_code(error) if issubclass(type(error), SystemExit) else None
    return CellOutcome(ERROR, ename=ename, evalue=evalue, traceback=lines, exit_code=exit_code)


def without_our_frames(traceback: TracebackType | None) -> None:
    """Cut what of a traceback lies in this package: the user's line raised, as far as the user can see."""
    leave_out_helpers(traceback)
    last = None
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_HERE):
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None


def _exit_code(error: BaseException) -> int:
    """As the interpreter would end: nothing is 0, a number is itself, anything else is 1."""
    code = code_of(error)
    if code is None:
        return 0
    return int.__int__(code) if issubclass(type(code), int) else 1
