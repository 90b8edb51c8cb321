"""A limit to the time that code of the user's may take which we run for our own purposes."""

from __future__ import annotations

from contextlib import contextmanager

from .stdlib import signal, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from .flusher import InterruptGuard

_AGAIN = 0.05
"""Code that catches the end of its time is told again."""


class TimeIsUp(BaseException):
    """Not an `Exception`: code of the user's catches those."""


@contextmanager
def limited(seconds: float, guard: InterruptGuard | None = None) -> Iterator[None]:
    """Raise in the block when its time is up, but nowhere that `guard` protects.

    Only for the main thread. A timer that the user has set goes on afterwards.
    """
    theirs = signal.getsignal(signal.SIGALRM)
    if theirs is None:  # It is not Python's, and could not be put back.
        yield
        return
    over = False

    def on_alarm(signum: int, frame: FrameType | None) -> None:
        if not over and not (guard is not None and guard.holds(frame)):
            raise TimeIsUp

    began = time.monotonic()
    # Theirs first: no alarm of theirs may come to our handler.
    left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        try:
            yield
        finally:
            over = True  # An alarm that comes right before this still leads to the cleaning up below.
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, theirs)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)
