"""What a journal takes down of one cell: every display, and of the text the beginning and the end.

No file is touched here: events go in, lines come out.
"""

import time
from collections import deque
from typing import Final

import msgspec

from pisces.journal.entries import Entry, Output, TextCut
from pisces.journal.line import encode_line
from pisces.model.events import AnyEvent, Bundle, Display, Done, Error, Result, Started, Status, Stream, StreamName

HEAD_CHARACTERS: Final = 896 * 1024
TAIL_CHARACTERS: Final = 128 * 1024
"""Of text beyond both together, a journal has these two ends. The whole of it is in the call's artifact."""
MAX_LINE: Final = 32 << 20
"""Bytes of one display; of a larger one only the small parts are kept."""
MAX_RICH: Final = 256 << 20
"""Bytes of all displays of a cell, so that a loop that draws cannot fill the disk."""

_SMALL: Final = 64 * 1024
"""Characters of a part of a display that is kept although others are too large."""
_MERGED: Final = 4096
"""Pieces of the end are put together up to this length: a million of one character each would take a lot of memory."""


class CellOutput:
    """Takes the events of one cell and makes lines of them. Memory is bounded, whatever the cell says."""

    def __init__(self, cell: int) -> None:
        self.cell = cell
        self.left_out = 0
        """How many displays and statuses were too many or too large."""
        self._lines: list[bytes] = []
        self._stream: StreamName | None = None
        self._pieces: list[str] = []
        """Text of one stream that is not a line yet, from `_since` on."""
        self._since = 0.0
        self._head_room = HEAD_CHARACTERS
        self._rich_room = MAX_RICH
        self._tail: deque[Stream] = deque()
        self._tail_length = 0
        self._cut = 0

    @property
    def held(self) -> int:
        """About how many bytes of lines wait to be taken."""
        return sum(map(len, self._lines))

    def add(self, event: AnyEvent) -> None:
        """The next event of the cell."""
        match event:
            case Stream():
                self._add_text(event)
            case Started() | Done():
                pass  # What they say is in the entries around the output.
            case _:
                self._end_text()
                self._add_rich(event)

    def take(self) -> bytes:
        """The lines of all that came since the last time, but for what may yet turn out to be the end of the text."""
        self._join()
        lines, self._lines = self._lines, []
        return b"".join(lines)

    def finish(self) -> bytes:
        """The cell is over: the lines that are left."""
        self._join()
        if self._cut:
            self._write(TextCut(time.time(), self.cell, self._cut))
        for event in self._tail:
            self._hold(event.name, event.text)
        return self.take()

    def _add_text(self, event: Stream) -> None:
        text = event.text
        if self._head_room > 0:
            piece = text[: self._head_room]
            self._head_room -= len(piece)
            self._hold(event.name, piece)
            text = text[len(piece) :]
        if text:
            self._add_tail(msgspec.structs.replace(event, text=text[-TAIL_CHARACTERS:]))
            self._cut += max(0, len(text) - TAIL_CHARACTERS)

    def _hold(self, name: StreamName, text: str) -> None:
        if name != self._stream:
            self._join()
            self._stream, self._since = name, time.time()
        self._pieces.append(text)

    def _add_tail(self, event: Stream) -> None:
        self._tail_length += len(event.text)
        last = self._tail[-1] if self._tail else None
        if last is not None and last.name == event.name and len(last.text) < _MERGED:
            self._tail[-1] = Stream(last.name, last.text + event.text)
        else:
            self._tail.append(event)
        while self._tail_length - len(self._tail[0].text) >= TAIL_CHARACTERS:
            gone = len(self._tail.popleft().text)
            self._tail_length -= gone
            self._cut += gone

    def _end_text(self) -> None:
        """Something else comes: what was kept as the end of the text is not its end, and makes room."""
        self._join()
        if self._head_room <= 0 and (self._cut or self._tail):
            self._write(TextCut(time.time(), self.cell, self._cut + self._tail_length))
            self._tail.clear()
            self._tail_length = self._cut = 0

    def _add_rich(self, event: AnyEvent) -> None:
        try:
            line = encode_line(Output(time.time(), self.cell, event))
            if len(line) > MAX_LINE:
                self.left_out += 1
                line = encode_line(Output(time.time(), self.cell, _small_parts(event)))
        except RecursionError:
            self.left_out += 1
            return
        if len(line) > self._rich_room and not isinstance(event, Error):
            self.left_out += 1
            return
        self._rich_room -= len(line)
        self._lines.append(line)

    def _join(self) -> None:
        if self._stream is None:
            return
        text = "".join(self._pieces)
        self._write(Output(self._since, self.cell, Stream(self._stream, text)))
        self._stream, self._pieces = None, []

    def _write(self, entry: Entry) -> None:
        self._lines.append(encode_line(entry))


def _small_parts(event: AnyEvent) -> AnyEvent:
    """Of an event that is too large, what is small enough to keep."""
    match event:
        case Display() | Result():
            return msgspec.structs.replace(event, bundle=_small_bundle(event.bundle), metadata={})
        case Error():
            return Error(
                event.ename[:_SMALL], event.evalue[:_SMALL], tuple(line[:_SMALL] for line in event.traceback[-100:])
            )
        case Status():
            return Status(event.op[:_SMALL])
        case _:
            return event


def _small_bundle(bundle: Bundle) -> Bundle:
    large = [mime for mime, value in bundle.items() if not (isinstance(value, str) and len(value) <= _SMALL)]
    kept = {mime: value for mime, value in bundle.items() if mime not in large}
    return kept or {"text/plain": f"[{', '.join(large)} of more than {MAX_LINE >> 20} MiB, not kept in the journal]"}
