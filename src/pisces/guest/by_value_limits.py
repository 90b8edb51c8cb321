"""How long pickling a variable may take and how large it may become, and all of them together.

Time is watched by the alarm signal, whose handler raises in the code that runs; size while the pickle is written.
"""

from __future__ import annotations

from .stdlib import signal, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .by_value_records import RecordWriter

_REPEAT_SECONDS = 0.5  # Code that catches everything is asked again to stop.


class TooMuch(BaseException):
    """A limit was reached. No `Exception`: the code of an object that is being pickled may catch those."""


class Limits:
    """Time and size of the pickle under way, and of all."""

    def __init__(self, seconds_each: float, bytes_each: int, seconds: float, bytes_total: int) -> None:
        self._seconds_each = seconds_each
        self._bytes_each = bytes_each
        self._end = time.monotonic() + seconds
        self._bytes_total = bytes_total
        self._room = 0
        self._writer: RecordWriter | None = None
        self._late = ""

    def begin(self, writer: RecordWriter, function: Any) -> None:
        """Start the clock; when it has run out, `TooMuch` is raised in the code that runs, if the function calls it."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TooMuch("no time was left for it")
        self._writer = writer
        self._code = function.__code__
        self._late = ""
        self._room = min(self._bytes_each, self._bytes_total)
        self._seconds = min(self._seconds_each, left)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, _REPEAT_SECONDS)

    def stop(self) -> None:
        """Stop the clock."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._late = ""

    def on_alarm(self, signum: int, frame: FrameType | None) -> None:
        """The handler of the alarm. It may come again while what was saved is cleared away, which takes its time."""
        while frame is not None and frame.f_code is not self._code:
            frame = frame.f_back
        if frame is None:
            return
        self._late = f"it took more than {self._seconds:g} s"
        if self._writer is None or not self._writer.within_record:
            raise TooMuch(self._late)

    def write(self, data: bytes) -> int:
        """Pass a piece on, within the limits."""
        size = memoryview(data).nbytes
        if size > self._room:
            limit = min(self._bytes_each, self._bytes_total)
            raise TooMuch(f"it is larger than the {limit / (1 << 20):.0f} MB that were left for it")
        self._room -= size
        self._bytes_total -= size
        assert self._writer is not None
        self._writer.write(data)
        if self._late:
            raise TooMuch(self._late)
        return size
