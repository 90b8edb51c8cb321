"""Standard output for text that comes while something runs: exact, in order, and never holding up the event loop."""

import errno
import os
import select
import sys
from collections.abc import Callable

import anyio

from pisces.errors import PiscesError

_STEP = 4096
"""What a pipe that is ready takes without blocking (PIPE_BUF on Linux); less elsewhere does no harm."""


def unwritable(error: OSError) -> PiscesError:
    """What to tell when standard output does not take what is written to it, though its reader is there."""
    return PiscesError(
        f"Standard output cannot be written: {error.strerror or error}.",
        hint="Make room where it goes, or send it elsewhere.",
    )


class LiveOutput:
    """Writes text to a descriptor as fast as its reader takes it.

    A reader that is slow is waited for, and nothing is lost when that wait is cancelled: what has not been written is
    written next. When the reader has gone, or the disk is full, `on_closed` is called once and everything after that is
    dropped.
    """

    def __init__(self, descriptor: int, encoding: str, *, on_closed: Callable[[], object]) -> None:
        self.closed = False
        self.failure: PiscesError | None = None
        """Why nothing more can be written, where it is not that the reader has gone."""
        self.at_line_start = True
        self.descriptor = descriptor
        self.encoding = encoding
        self._on_closed = on_closed
        self._unwritten = bytearray()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self.is_terminal = os.isatty(descriptor)
        """Whether a person looks at it."""

    @classmethod
    def standard(cls, *, on_closed: Callable[[], object]) -> "LiveOutput":
        """Standard output, in the encoding that it has."""
        sys.stdout.flush()
        return cls(sys.stdout.fileno(), sys.stdout.encoding or "utf-8", on_closed=on_closed)

    def take(self, text: str) -> None:
        """Put text in line; `drain` writes it."""
        if text and not self.closed:
            self._unwritten += text.encode(self.encoding, "replace")
            self.at_line_start = text.endswith("\n")

    def begin_line(self) -> None:
        """Make sure that what comes next begins a line."""
        if not self.at_line_start:
            self.take("\n")

    def offer(self, text: str) -> None:
        """Write text as far as the reader takes it now; the rest is in line."""
        self.take(text)
        if self._unwritten and not self.closed and self._poll.poll(0):
            self._write_some()

    def interpose(self, text: str) -> None:
        """Write text before all that is in line, if that does not block: for signal handlers."""
        if not self.closed and self._poll.poll(0):
            try:
                os.write(self.descriptor, text.encode(self.encoding, "replace"))
            except OSError:
                return  # What is written next finds out, too.

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be written, and something would be written at once."""
        return not self._unwritten and not self.closed and bool(self._poll.poll(0))

    async def drain(self) -> None:
        """Write all that was taken."""
        while self._unwritten and not self.closed:
            if self._poll.poll(0):
                self._write_some()
            else:
                await anyio.wait_writable(self.descriptor)

    def _write_some(self) -> None:
        try:
            written = os.write(self.descriptor, self._unwritten[:_STEP])
        except (BrokenPipeError, ConnectionError):
            self._give_up()
        except OSError as error:
            if not (self.is_terminal and error.errno == errno.EIO):  # That is how a terminal says that it has gone.
                self.failure = unwritable(error)
            self._give_up()
        else:
            del self._unwritten[:written]

    def _give_up(self) -> None:
        self.closed = True
        self._unwritten.clear()
        self._on_closed()
