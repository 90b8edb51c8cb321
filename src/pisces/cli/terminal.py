"""Standard output for text that comes while something runs: exact, in order, and never holding up the event loop."""

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
        self._descriptor = descriptor
        self._encoding = encoding
        self._on_closed = on_closed
        self._unwritten = bytearray()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    @classmethod
    def standard(cls, *, on_closed: Callable[[], object]) -> "LiveOutput":
        """Standard output, in the encoding that it has."""
        sys.stdout.flush()
        return cls(sys.stdout.fileno(), sys.stdout.encoding or "utf-8", on_closed=on_closed)

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return os.isatty(self._descriptor)

    def take(self, text: str) -> None:
        """Put text in line; `drain` writes it."""
        if text and not self.closed:
            self._unwritten += text.encode(self._encoding, "replace")
            self.at_line_start = text.endswith("\n")

    def begin_line(self) -> None:
        """Make sure that what comes next begins a line."""
        if not self.at_line_start:
            self.take("\n")

    async def drain(self) -> None:
        """Write all that was taken."""
        while self._unwritten and not self.closed:
            if self._poll.poll(0):
                self._write_some()
            else:
                await anyio.wait_writable(self._descriptor)

    def _write_some(self) -> None:
        try:
            written = os.write(self._descriptor, self._unwritten[:_STEP])
        except (BrokenPipeError, ConnectionError):
            self._give_up()
        except OSError as error:
            self.failure = unwritable(error)
            self._give_up()
        else:
            del self._unwritten[:written]

    def _give_up(self) -> None:
        self.closed = True
        self._unwritten.clear()
        self._on_closed()
