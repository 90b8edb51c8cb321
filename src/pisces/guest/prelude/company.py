"""Calls that run side by side for one caller: when that one is interrupted, what they wait for is stopped too.

Only the main thread of a process hears of an interrupt. Whoever waits in another thread says here how it is stopped.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_company: ContextVar[Company | None] = ContextVar("pisces_company", default=None)


class Company:
    """All that one caller waits for. Threads that are started within it belong to it, if they have its context."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self._stopped = False

    def __enter__(self) -> Company:
        self._outer = _company.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _company.reset(self._outer)

    def stop(self) -> None:
        """Stop what runs, and whatever would begin from now on."""
        with self._lock:
            self._stopped = True
            stops = list(self._stops)
        for stop in stops:
            stop()

    def add(self, stop: Callable[[], None]) -> None:
        """Call this when the caller is interrupted; at once, if it has been."""
        with self._lock:
            self._stops.append(stop)
            stopped = self._stopped
        if stopped:
            stop()

    def remove(self, stop: Callable[[], None]) -> None:
        """What it stops has come to its end."""
        with self._lock:
            self._stops.remove(stop)


class Member:
    """While it lasts, whoever waits here is stopped with its company; in none, nothing happens."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.company = _company.get()

    def __enter__(self) -> Member:
        if self.company is not None:
            self.company.add(self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        if self.company is not None:
            self.company.remove(self._stop)
