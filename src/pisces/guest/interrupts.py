"""What SIGINT means: nothing between cells, KeyboardInterrupt in a cell, the end of the task in a top-level await."""

from __future__ import annotations

import asyncio
from asyncio import events
from types import FrameType

from .flusher import InterruptGuard
from .stdlib import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any


class Interrupts:
    """The SIGINT handler of a kernel.

    Between cells it is a handler that does nothing, not SIG_IGN, because children would inherit that. The second
    signal of a cell always raises, whatever the first one tried.
    """

    def __init__(self, guard: InterruptGuard) -> None:
        self.loop: asyncio.AbstractEventLoop
        self._guard = guard
        self._in_cell = False
        self._count = 0
        self._task: asyncio.Task[Any] | None = None

    @property
    def came(self) -> bool:
        """Whether the cell that runs, or ran last, was interrupted."""
        return self._count > 0

    def install(self) -> None:
        """Take over SIGINT; cells that set a handler of their own keep it until they end."""
        signal.signal(signal.SIGINT, self._on_signal)

    def begin_cell(self) -> None:
        """From here on SIGINT is for the cell."""
        self._count = 0
        self._in_cell = True

    def end_cell(self) -> None:
        """From here on SIGINT does nothing."""
        self._in_cell = False
        self._guard.deferred = False
        if signal.getsignal(signal.SIGINT) != self._on_signal:
            self.install()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a cell's top-level await to its end on the kernel's loop."""
        task = self.loop.create_task(coroutine)
        self._task = task
        try:
            return self.loop.run_until_complete(task)
        except asyncio.CancelledError:
            if self._count:
                raise KeyboardInterrupt from None
            raise
        except (KeyboardInterrupt, SystemExit):
            if not task.done():
                # It was raised in another callback of the loop: the cell's own task ends with its cell.
                task.cancel()
            raise
        finally:
            self._task = None

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        if not self._in_cell or self._guard.defers(frame):
            return
        self._count += 1
        task = self._task
        if task is None or self._count > 1 or self._is_running(task):
            raise KeyboardInterrupt
        self.loop.call_soon_threadsafe(task.cancel)

    def _is_running(self, task: asyncio.Task[Any]) -> bool:
        """Whether the task's own code runs at this moment, or a loop that it runs; as opposed to waiting."""
        return events._get_running_loop() not in (None, self.loop) or asyncio.current_task(self.loop) is task
