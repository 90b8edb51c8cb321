"""Ctrl+Z at a terminal: what stands there for the moment is taken away before the command stops."""

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Suspending:
    """While entered, `before` is called before the process stops. Where stopping is ignored, it stays so."""

    def __init__(self, before: Callable[[], object]) -> None:
        self._before = before
        self._handler: Any = signal.SIG_IGN

    def __enter__(self) -> Self:
        self._handler = signal.getsignal(signal.SIGTSTP)
        if self._handler != signal.SIG_IGN:
            signal.signal(signal.SIGTSTP, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler != signal.SIG_IGN:
            signal.signal(signal.SIGTSTP, self._handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._before()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # It returns when the process goes on.
        signal.signal(signal.SIGTSTP, self._stop)
