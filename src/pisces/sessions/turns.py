"""The queue in front of a session's kernel: one call at a time, in the order in which they came.

Above is `session`, which is such a queue and owns the kernel behind it.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from pisces.errors import DeadlineExceeded, SessionClosed
from pisces.kernels.deadline import Deadline
from pisces.sessions.stop import StopSignal


class Turns:
    """Whoever has the turn has the kernel to itself."""

    def __init__(self, name: str, on_idle: Callable[[], None]) -> None:
        """`on_idle` is called whenever a turn is over."""
        self.active_stop: StopSignal | None = None
        """Stops the call that has its turn."""
        self.last_used = time.monotonic()
        self._name = name
        self._on_idle = on_idle
        self._turns = anyio.Lock(fast_acquire=True)
        self._closing = False

    @property
    def busy(self) -> bool:
        """Whether a call runs or waits here."""
        statistics = self._turns.statistics()
        return statistics.locked or statistics.tasks_waiting > 0

    @property
    def closed(self) -> bool:
        """Whether it takes no more calls."""
        return self._closing

    async def enter_turn(self) -> None:
        """Wait for all calls before this one, then have the session to oneself until `leave_turn`."""
        if self._closing:
            raise self._closed_error()
        await self._turns.acquire()
        if self._closing:
            self._turns.release()
            raise self._closed_error()
        self.last_used = time.monotonic()

    def enter_turn_at_once(self) -> bool:
        """Have the turn if nobody has it or waits for it; False if one must wait."""
        if self._closing or self.busy:
            return False
        self._turns.acquire_nowait()
        self.last_used = time.monotonic()
        return True

    def leave_turn(self) -> None:
        """Let the next call in."""
        self.active_stop = None
        self.last_used = time.monotonic()
        self._turns.release()
        self._on_idle()

    @asynccontextmanager
    async def turn(self, deadline: Deadline) -> AsyncIterator[None]:
        """Have the turn for a block. Raises `DeadlineExceeded` when it does not come in time."""
        if not self.enter_turn_at_once():
            with deadline.scope() as scope:
                await self.enter_turn()
            if scope.cancelled_caught:
                raise DeadlineExceeded(
                    f"The calls before this one in session {self._name!r} had not finished in time; nothing was done",
                    hint="`session` with action interrupt stops the call that runs.",
                )
        try:
            yield
        finally:
            self.leave_turn()

    @asynccontextmanager
    async def last_turn(self, wait: float, on_stop: Callable[[], None]) -> AsyncIterator[None]:
        """Refuse new calls, give the running one `wait` seconds, then stop it; then have the turn that is the last.

        `on_stop` is called with the stop: it ends what a call may be waiting for that no stop ends.
        """
        self._closing = True
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(wait) as patience:
                await self._turns.acquire()
            if patience.cancelled_caught:
                if self.active_stop is not None:
                    self.active_stop.ask()
                on_stop()
                await self._turns.acquire()
            try:
                yield
            finally:
                self._turns.release()

    def _closed_error(self) -> SessionClosed:
        return SessionClosed(f"Session {self._name!r} has been closed", hint="Use another session name.")
