"""A limit on the time that the user's code may take when the kernel runs it for its own purposes."""

from __future__ import annotations

from contextlib import contextmanager

from .stdlib import signal, threading, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_AGAIN = 0.05
"""Seconds until `TimeIsUp` is raised again in code that caught it."""


class TimeIsUp(BaseException):
    """Not an `Exception`: code of the user's catches those."""


@contextmanager
def limited(seconds: float, may_stop: Callable[[FrameType | None], bool]) -> Iterator[None]:
    """Raise `TimeIsUp` in the block when its time is up, unless `may_stop` says no for the frame that runs.

    There is no limit outside the main thread. A timer that the user has set continues afterwards.
    """
    theirs = signal.getsignal(signal.SIGALRM)
    # A handler that is not Python's could not be put back, and only the main thread can set one.
    if theirs is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    over = False

    def on_alarm(signum: int, frame: FrameType | None) -> None:
        if not over and may_stop(frame):
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
            over = True  # If an alarm raises right before this, the outer block still cleans up.
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, theirs)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)
