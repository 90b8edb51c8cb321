"""The cell that runs: how the host knows it, and what is to be done when it ends."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_known_by: list[Callable[[], str]] = []
_at_end: list[Callable[[], None]] = []


def known_by(ask: Callable[[], str]) -> None:
    """This says from now on what the host calls the cell that runs; an empty text where that is not known."""
    _known_by[:] = [ask]


def current() -> str:
    """What the host calls the cell that runs, or that ran last; empty where nobody knows."""
    return _known_by[0]() if _known_by else ""


def at_end(function: Callable[[], None]) -> None:
    """Call this at the end of every cell from now on."""
    _at_end.append(function)


def ended() -> None:
    """The cell has come to its end."""
    for function in _at_end:
        function()
