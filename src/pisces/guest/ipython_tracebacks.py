"""Errors that IPython does not show as it should, made ready for our own description of them.

IPython prints exception groups and wrong uses of magics straight to standard error, with its own frames or without
the line, and falls over exceptions whose text raises.
"""

from __future__ import annotations

from types import TracebackType

from IPython.core import interactiveshell
from IPython.core.error import UsageError as IPythonUsageError

from .tracebacks import UsageError


def can_be_shown_by_ipython(error: BaseException | None) -> bool:
    """Whether neither the error nor any that led to it is of those kinds."""
    seen: set[int] = set()
    try:
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            if isinstance(error, IPythonUsageError) or hasattr(error, "exceptions"):
                return False
            str(error)
            repr(error)
            error = error.__cause__ or error.__context__
    except BaseException:  # Code of the user's, which may raise anything.
        return False
    return True


def as_our_own(error: BaseException) -> BaseException:
    """The error as the built-in shell would have it: beginning at the cell, a wrong use as our `UsageError`."""
    if isinstance(error, IPythonUsageError):
        return UsageError(*error.args)
    return error.with_traceback(_from_the_cell(error.__traceback__))


def _from_the_cell(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_code.co_filename == interactiveshell.__file__:
        traceback = traceback.tb_next
    return traceback
