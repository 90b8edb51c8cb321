"""Threads that work side by side and are gone when there is nothing to do: none of them is there at a checkpoint."""

from __future__ import annotations

import threading
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any


class Workers:
    """At most so many threads. Each takes the next piece of work until there is none, and ends."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._threads = 0

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Have this done as soon as a thread is free. Cancelling the future takes back what has not begun."""
        import contextvars
        from concurrent.futures import Future

        future: Future[Any] = Future()
        context = contextvars.copy_context()  # In it a Jupyter kernel finds the cell that output belongs to.
        with self._lock:
            self._waiting.append((future, lambda: context.run(work)))
            wanted = self._threads < self._most
            self._threads += wanted
        if wanted:
            self._start()
        return future

    def _start(self) -> None:
        try:
            threading.Thread(target=self._work, name="pisces-worker", daemon=True).start()
        except RuntimeError:  # The system has no more threads; those that there are do the work, if there are any.
            with self._lock:
                self._threads -= 1
                if self._threads:
                    return
                waiting, self._waiting = self._waiting, deque()
            for future, _ in waiting:
                future.cancel()
            raise

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                future, work = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    value = work()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(value)
