"""Turns an exception into the lines a reader should see: from the cell on, without frames of the kernel's own.

The `traceback` module is imported with the first error, not before.
"""

from __future__ import annotations

from .json_safe import safe_text, type_name
from .stdlib import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from traceback import FrameSummary, TracebackException
    from typing import Any

CELL_PREFIX = "<cell "
"""How the file name of every cell's code begins; the rest is its number and `>`."""

_GUEST_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MOST_ENTRIES = 60
_FIRST_ENTRIES = 20
_LAST_ENTRIES = 30


class UsageError(Exception):
    """What was asked of the shell itself cannot be: an unknown magic, a wrong option. Its message says it all."""


def describe(error: BaseException) -> tuple[str, str, list[str]]:
    """The name of the error, its text, and the lines of its traceback, whatever the exception's own methods do."""
    name, kind = type_name(error), type(error)  # Not `isinstance`, which asks the exception too.
    text = "" if issubclass(kind, SystemExit) and code_of(error) is None else _text(error)
    if issubclass(kind, (UsageError, SystemExit)):
        return name, text, [f"{name}: {text}" if text else name]
    try:
        lines = _format(error)
    except BaseException as failure:  # an exception of the user may raise anything when it is looked at
        lines = [f"{name}: {text}", f"(its traceback could not be made: {type_name(failure)})"]
    return name, text, [safe_text(line) for line in lines]


def code_of(error: BaseException) -> Any:
    """What a SystemExit was given; 1 where it does not tell."""
    try:
        return error.code  # type: ignore[attr-defined]  # Only SystemExit has it, and the caller has seen that it is one.
    except BaseException:  # A property of the user's.
        return 1


def _text(error: BaseException) -> str:
    try:
        return safe_text(str(error))
    except BaseException as failure:  # the same
        return f"<its text could not be made: {type_name(failure)}>"


def _format(error: BaseException) -> list[str]:
    from traceback import TracebackException

    report = TracebackException(type(error), error, error.__traceback__, lookup_lines=False)
    _trim(report)
    chained = report.__cause__ is not None or (report.__context__ is not None and not report.__suppress_context__)
    whole = report.stack or chained or getattr(report, "exceptions", None)
    return "".join(report.format() if whole else report.format_exception_only()).splitlines()


def _trim(report: TracebackException) -> None:
    """Leave only what concerns the reader, in the report and in every exception that it is chained to."""
    from traceback import StackSummary

    class BoundedStack(StackSummary):
        """A recursion through several functions is not thousands of lines."""

        def format(self, **options: bool) -> list[str]:
            entries = super().format(**options)
            left_out = len(entries) - _FIRST_ENTRIES - _LAST_ENTRIES
            if len(entries) <= _MOST_ENTRIES:
                return entries
            note = f"  [… {left_out} more frames …]\n"
            return [*entries[:_FIRST_ENTRIES], note, *entries[-_LAST_ENTRIES:]]

    pending = [report]
    while pending:
        one = pending.pop()
        one.stack = BoundedStack(_visible(one.stack))
        linked = (one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ()))
        pending += [other for other in linked if other is not None]


def _visible(frames: Iterable[FrameSummary]) -> list[FrameSummary]:
    """From the first frame of a cell on, where there is one; never a frame of the guest."""
    frames = list(frames)
    first = next((at for at, frame in enumerate(frames) if frame.filename.startswith(CELL_PREFIX)), 0)
    return [frame for frame in frames[first:] if not frame.filename.startswith(_GUEST_FOLDER)]
