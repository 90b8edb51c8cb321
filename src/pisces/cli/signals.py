"""Ctrl+C, SIGTERM and the end of the terminal, while something runs: the first asks it to stop, the second ends it."""

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def in_running_loop(stop: Callable[[], object]) -> Callable[[], object]:
    """A call of `stop` in the event loop that runs now, for a signal handler to make."""
    import asyncio  # a command that talks to the background host has no loop

    loop = asyncio.get_running_loop()
    return lambda: loop.call_soon_threadsafe(stop)


class StopSignals:
    """While entered, the first signal calls `stop`, in the handler.

    The handlers are Python's own and not the event loop's, so that a second signal is heard even while a write to a
    stuck terminal holds the loop. Kernels end with their host, however it ends.
    """

    def __init__(self, stop: Callable[[], object], *, farewell: Callable[[], object] = lambda: None) -> None:
        """`farewell` is called when a second signal ends the process; it must not wait for anything."""
        self.received: signal.Signals | None = None
        """The first signal, if one came."""
        self._stop = stop
        self._farewell = farewell
        self._before: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int | None:
        """What the command exits with because of the signal: 130 after Ctrl+C, 143 after SIGTERM, 129 after SIGHUP."""
        return None if self.received is None else 128 + self.received

    def __enter__(self) -> Self:
        # With `nohup` the end of the terminal is ignored, and so it stays.
        heard = [each for each in _HANDLED if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._handle) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            if number == signal.SIGHUP:  # It comes twice: from the system, and from the shell of the terminal.
                return
            self._farewell()
            os._exit(128 + number)
        self.received = signal.Signals(number)
        self._stop()
