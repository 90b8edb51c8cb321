"""How much of a cell's output is kept for later: of the text both ends, of displays as many as a disk should lend.

Journals keep so much, and notebooks that are run. The whole of the text is in the call's artifact.
"""

import time
from collections import deque
from typing import Final

import msgspec

from pisces.journal.entries import Output
from pisces.journal.line import encode_line
from pisces.model.events import AnyEvent, Bundle, Display, Error, Result, Status, Stream

HEAD_CHARACTERS: Final = 896 * 1024
TAIL_CHARACTERS: Final = 128 * 1024
"""Of text beyond both together, these two ends are kept."""
MAX_LINE: Final = 32 << 20
"""Bytes of one display; of a larger one only the small parts are kept."""
MAX_RICH: Final = 256 << 20
"""Bytes of all displays of a cell, so that a loop that draws cannot fill the disk."""

_SMALL: Final = 64 * 1024
"""Characters of a part of a display that is kept although others are too large."""
_MERGED: Final = 4096
"""Pieces of the end are put together up to this length: a million of one character each would take a lot of memory."""


class BoundedText:
    """The text of one cell: its beginning is handed on at once, its end when it is known to be that."""

    def __init__(self) -> None:
        self._room = HEAD_CHARACTERS
        self._tail: deque[Stream] = deque()
        self._length = 0
        self._cut = 0

    def add(self, event: Stream) -> Stream | None:
        """What of this text belongs to the beginning; the rest may turn out to be the end."""
        text, head = event.text, None
        if self._room > 0:
            piece = text[: self._room]
            self._room -= len(piece)
            head = Stream(event.name, piece)
            text = text[len(piece) :]
        if text:
            self._add_tail(Stream(event.name, text[-TAIL_CHARACTERS:]))
            self._cut += max(0, len(text) - TAIL_CHARACTERS)
        return head

    def interrupt(self) -> int:
        """Something else comes: what was kept as the end is not the end, and makes room. How much is cut here."""
        cut = self._cut + self._length
        self._tail.clear()
        self._length = self._cut = 0
        return cut

    def finish(self) -> tuple[int, list[Stream]]:
        """How much is cut here, and the end that follows."""
        cut, end = self._cut, list(self._tail)
        self.interrupt()
        return cut, end

    def _add_tail(self, event: Stream) -> None:
        self._length += len(event.text)
        last = self._tail[-1] if self._tail else None
        if last is not None and last.name == event.name and len(last.text) < _MERGED:
            self._tail[-1] = Stream(last.name, last.text + event.text)
        else:
            self._tail.append(event)
        while self._length - len(self._tail[0].text) >= TAIL_CHARACTERS:
            gone = len(self._tail.popleft().text)
            self._length -= gone
            self._cut += gone


class RichRoom:
    """What of a cell's displays there is room for."""

    def __init__(self, cell: int = 0, *, room: int | None = None, updates_replace: bool = False) -> None:
        """With `updates_replace` an update takes the room of the one before it; a journal keeps them all."""
        self.left_out = 0
        """How many displays and statuses were too many or too large."""
        self._cell = cell
        self._room = MAX_RICH if room is None else room
        self._updates: dict[str, int] | None = {} if updates_replace else None
        """By display id, how many bytes its last update takes."""

    def admit(self, event: AnyEvent) -> tuple[AnyEvent, bytes] | None:
        """The event, or the small parts of it, with its line in a journal; None if it has to be left out."""
        try:
            line = self._line(event)
            if len(line) > MAX_LINE:
                self.left_out += 1
                event = _small_parts(event)
                line = self._line(event)
        except RecursionError:
            self.left_out += 1
            return None
        replaced = self._replaced_by(event)
        if len(line) > self._room + replaced and not isinstance(event, Error):
            self.left_out += 1
            return None
        self._room += replaced - len(line)
        if self._updates is not None and isinstance(event, Display) and event.update:
            self._updates[event.display_id or ""] = len(line)
        return event, line

    def _replaced_by(self, event: AnyEvent) -> int:
        """How much room is had again because this comes in place of something."""
        if self._updates is None or not isinstance(event, Display) or not event.update:
            return 0
        return self._updates.get(event.display_id or "", 0)

    def _line(self, event: AnyEvent) -> bytes:
        return encode_line(Output(time.time(), self._cell, event))


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
    return kept or {"text/plain": f"[{', '.join(large)} of more than {MAX_LINE >> 20} MiB, not kept]"}
