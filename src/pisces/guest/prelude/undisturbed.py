"""A short piece of work that an interrupt must not cut in two: it is raised when the work is done."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def undisturbed() -> Iterator[None]:
    """Note an interrupt that comes meanwhile, and raise it at the end. Only the main thread ever gets one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda signum, frame: came.append(signum))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            raise KeyboardInterrupt
