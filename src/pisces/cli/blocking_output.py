"""Standard output for text that comes from elsewhere: exact, in order, written at once by a process that may wait."""

import errno
import os
import sys
from collections.abc import Callable, Sequence

from pisces.errors import PiscesError
from pisces.host.protocol import Piece


class BlockingOutput:
    """Writes text as it comes. While its reader is slow nothing else is done, so the sender of the text waits too.

    When the reader has gone, or the disk is full, `on_closed` is called once and everything after that is dropped.
    """

    def __init__(self, *, cells: int = 1, on_closed: Callable[[], object] = lambda: None) -> None:
        self.closed = False
        self.failure: PiscesError | None = None
        """Why nothing more can be written, where it is not that the reader has gone."""
        self._cells = cells
        self._on_closed = on_closed
        self._at_line_start = True
        self.encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.flush()
        self.descriptor = sys.stdout.fileno()
        self.is_terminal = os.isatty(self.descriptor)
        """Whether a person looks at it."""

    def take(self, pieces: Sequence[Piece]) -> None:
        """Show pieces of output; a cell begins a line, and has a heading if it has a title and is not alone."""
        for piece in pieces:
            if piece.text:
                self.write(piece.text)
                continue
            self.begin_line()
            if piece.title and self._cells > 1:
                self.write(f"[{piece.cell + 1}/{self._cells}] {piece.title}\n")

    def begin_line(self) -> None:
        """Make sure that what comes next begins a line."""
        if not self._at_line_start:
            self.write("\n")

    def write(self, text: str) -> None:
        """Write all of the text."""
        if not text:
            return
        left = memoryview(text.encode(self.encoding, "replace"))
        self._at_line_start = text.endswith("\n")
        try:
            while left and not self.closed:
                left = left[os.write(self.descriptor, left) :]
        except (BrokenPipeError, ConnectionError):
            self._give_up()
        except OSError as error:
            if not (self.is_terminal and error.errno == errno.EIO):  # That is how a terminal says that it has gone.
                from pisces.cli.terminal import unwritable

                self.failure = unwritable(error)
            self._give_up()

    def _give_up(self) -> None:
        self.closed = True
        self._on_closed()
