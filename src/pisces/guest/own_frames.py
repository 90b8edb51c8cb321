"""What of a traceback is the user's to look into: their cells and modules, not the helpers in between."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


def leave_out_helpers(traceback: TracebackType | None) -> None:
    """Take frames of this package, and what they called, out of a traceback, below the cell's own frame.

    Code of the user's that a helper has called stays, and so does a function that somebody made a helper of.
    """
    main = getattr(sys.modules.get("__main__"), "__dict__", None)  # A cell may have put anything there, or nothing.
    shown = _next_of_the_user(traceback, main)
    while shown is not None:
        after, ours = shown.tb_next, 0
        while after is not None and _is_ours(after):
            after, ours = after.tb_next, ours + 1
        if ours:
            # One frame alone is what tells of a call: below it is the function itself, wherever that comes from.
            below = _next_of_the_user(after, main)
            shown.tb_next = after if below is None and ours == 1 else below
        shown = shown.tb_next


def _next_of_the_user(traceback: TracebackType | None, main: dict[str, object] | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_globals is not main:
        traceback = traceback.tb_next
    return traceback


def _is_ours(traceback: TracebackType) -> bool:
    package = traceback.tb_frame.f_globals.get("__package__")
    if type(package) is not str:
        return False
    return package == __package__ or package.startswith(f"{__package__}.")
