"""The one thread of the guest's own: it flushes what a cell prints, and raises interrupts that had to wait."""

from __future__ import annotations

from .stdlib import signal, threading, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import io
    from collections.abc import Callable
    from types import FrameType

_FLUSH_SECONDS = 0.02
_PARK_SECONDS = 1.0


class InterruptGuard:
    """Where SIGINT must wait: between a write and the moment the buffer above knows of it.

    A KeyboardInterrupt there would have the buffer write the same bytes again, or leave half a marker. The handler
    leaves it here instead, and the flusher raises it a moment later.
    """

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._depth = 0
        self.deferred = False
        self.whole = {InterruptGuard.__exit__.__code__}
        """The code of functions that are guarded until they have returned: they leave the guard a moment before."""

    def __enter__(self) -> None:
        if threading.get_ident() == self._main:
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        if threading.get_ident() == self._main:
            self._depth -= 1

    def defers(self, frame: FrameType | None) -> bool:
        """Whether an interrupt now has to wait; it is then raised later. Asked by the handler, in the main thread.

        `frame` is where it came.
        """
        self.deferred = self.holds(frame)
        return self.deferred

    def holds(self, frame: FrameType | None) -> bool:
        """Whether nothing may be raised in the main thread, which is in this frame."""
        return self._depth > 0 or (frame is not None and frame.f_code in self.whole)

    def raise_deferred(self) -> None:
        """Raise what was deferred, in the main thread."""
        if self.deferred:
            self.deferred = False
            # A real signal: the main thread may be in a system call by now, which it must end.
            signal.pthread_kill(self._main, signal.SIGINT)


class Flusher:
    """A thread that flushes stdout every 20 ms while cells run, and sleeps on a lock when none has for a while."""

    def __init__(self, stream: io.TextIOWrapper, guard: InterruptGuard) -> None:
        self._stream = stream
        self._guard = guard
        self.chore: Callable[[], None] = _nothing
        """What else is done every 20 ms while a cell runs."""
        self.forget()

    def forget(self) -> None:
        """Start from nothing: in a forked process the thread is not there."""
        self.busy = False
        self.quiet = threading.Lock()
        """Held while the stream is flushed."""
        self._thread: threading.Thread | None = None
        self._gate = threading.Lock()
        self._gate.acquire()
        self._parked = False
        self._last_wake = 0.0

    def wake(self) -> None:
        """A cell begins."""
        self.busy = True
        self._last_wake = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="pisces-flusher", daemon=True)
            self._thread.start()
        elif self._parked:
            self._parked = False
            self._gate.release()

    def _run(self) -> None:
        thread = self._thread
        while self._thread is thread:
            time.sleep(_FLUSH_SECONDS)
            self._guard.raise_deferred()
            self.chore()
            try:
                with self.quiet:
                    self._stream.flush()
            except ValueError:
                return  # The user closed the stream.
            except OSError:
                pass  # The cell closed the descriptor, which is open again after its end.
            if time.monotonic() - self._last_wake > _PARK_SECONDS:
                self._parked = True
                if not self.busy:  # Looked at after `_parked` is set, as `wake` does it the other way round.
                    self._gate.acquire()
                self._parked = False


def _nothing() -> None:
    pass
