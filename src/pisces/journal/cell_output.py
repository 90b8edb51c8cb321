"""What a journal takes down of one cell: every display, and of the text the beginning and the end.

No file is touched here: events go in, lines come out.
"""

import time

from pisces.journal.bounded_output import BoundedText, RichRoom
from pisces.journal.entries import Entry, Output, TextCut
from pisces.journal.line import encode_line
from pisces.model.events import AnyEvent, Done, Started, Stream, StreamName


class CellOutput:
    """Takes the events of one cell and makes lines of them. Memory is bounded, whatever the cell says."""

    def __init__(self, cell: int) -> None:
        self.cell = cell
        self._lines: list[bytes] = []
        self._stream: StreamName | None = None
        self._pieces: list[str] = []
        """Text of one stream that is not a line yet, from `_since` on."""
        self._since = 0.0
        self._text = BoundedText()
        self._rich = RichRoom(cell)

    @property
    def left_out(self) -> int:
        """How many displays and statuses were too many or too large."""
        return self._rich.left_out

    @property
    def held(self) -> int:
        """About how many bytes of lines wait to be taken."""
        return sum(map(len, self._lines))

    def add(self, event: AnyEvent) -> None:
        """The next event of the cell."""
        match event:
            case Stream():
                head = self._text.add(event)
                if head is not None:
                    self._hold(head)
            case Started() | Done():
                pass  # What they say is in the entries around the output.
            case _:
                self._join()
                self._tell_cut(self._text.interrupt())
                admitted = self._rich.admit(event)
                if admitted is not None:
                    self._lines.append(admitted[1])

    def take(self) -> bytes:
        """The lines of all that came since the last time, but for what may yet turn out to be the end of the text."""
        self._join()
        lines, self._lines = self._lines, []
        return b"".join(lines)

    def finish(self) -> bytes:
        """The cell is over: the lines that are left."""
        self._join()
        cut, end = self._text.finish()
        self._tell_cut(cut)
        for event in end:
            self._hold(event)
        return self.take()

    def _hold(self, event: Stream) -> None:
        if event.name != self._stream:
            self._join()
            self._stream, self._since = event.name, time.time()
        self._pieces.append(event.text)

    def _join(self) -> None:
        if self._stream is None:
            return
        text = "".join(self._pieces)
        self._write(Output(self._since, self.cell, Stream(self._stream, text)))
        self._stream, self._pieces = None, []

    def _tell_cut(self, characters: int) -> None:
        if characters:
            self._write(TextCut(time.time(), self.cell, characters))

    def _write(self, entry: Entry) -> None:
        self._lines.append(encode_line(entry))
