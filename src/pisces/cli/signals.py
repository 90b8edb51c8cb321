"""Ctrl+C and SIGTERM while something runs: the first asks it to stop, the second ends the command at once."""

import asyncio
import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_HANDLED = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """While entered, inside a running event loop, the first signal calls `stop` in that loop.

    The handlers are Python's own and not the loop's, so that a second signal is heard even while a write to a stuck
    terminal holds the loop. Kernels end with their host, however it ends.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self.received: signal.Signals | None = None
        """The first signal, if one came."""
        self._stop = stop
        self._loop = asyncio.get_running_loop()
        self._before: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int | None:
        """What the command exits with because of the signal: 130 after Ctrl+C, 143 after SIGTERM."""
        return None if self.received is None else 128 + self.received

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._handle) for number in _HANDLED}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            os._exit(128 + number)
        self.received = signal.Signals(number)
        self._loop.call_soon_threadsafe(self._stop)
