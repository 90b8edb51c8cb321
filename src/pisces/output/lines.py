"""Turn a sanitized stream into the lines to show: overwritten states folded away, long lines clamped.

Works on UTF-8 in bulk: a block of ordinary lines stays one piece, however many lines it has.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

_NEWLINE: Final = b"\n"
_RETURN: Final = b"\r"


class Piece(msgspec.Struct, frozen=True):
    """Some whole lines to show, or (only at the very end of a stream) one line that has no newline yet.

    A piece with several lines is ordinary: each of its lines is one line of the stream, and it can be cut anywhere
    between two. A line that was clamped or folded is a piece of its own.
    """

    data: bytes
    """The text, UTF-8, with the note of a clamped line."""
    lines: int
    stream_lines: int
    """How many lines of the whole stream it stands for: more than `lines` where states were overwritten."""
    note_bytes: int = 0
    """How many bytes of `data` are a note of ours."""

    @property
    def size(self) -> int:
        """The bytes of the stream that are in it."""
        return len(self.data) - self.note_bytes

    @classmethod
    def ordinary(cls, data: bytes) -> "Piece":
        """A block of whole lines, none of them folded or clamped."""
        count = data.count(_NEWLINE)
        return cls(data=data, lines=count, stream_lines=count)


class LineFolder:
    """Cuts a stream into pieces as it comes; the unfinished last line stays here, bounded.

    A carriage return starts the line over: only its last state is shown, and each state counts as one line of the
    stream. Of a line with more than `clamp` characters the first `clamp` are shown, with a note of how many are not.
    """

    def __init__(self, clamp: int) -> None:
        self._clamp = clamp
        self.clamped_lines = 0
        """How many lines had to be clamped so far, the unfinished one included."""
        self._start_line()

    def feed(self, data: bytes) -> Iterator[Piece]:
        """The pieces that this part of the stream completes. Take them all before the next call."""
        if self._is_open:
            end = data.find(_NEWLINE)
            if end < 0:
                self._extend(data)
                return
            self._extend(data[:end])
            yield self._piece(terminated=True)
            self._start_line()
            data = data[end + 1 :]
        complete = data.rfind(_NEWLINE) + 1
        yield from self._blocks(data[:complete])
        if complete < len(data):
            self._extend(data[complete:])

    def unfinished(self) -> Piece | None:
        """The line that has no newline yet, as it would be shown now."""
        return self._piece(terminated=False) if self._is_open else None

    @property
    def _is_open(self) -> bool:
        return bool(self._line or self._returns)

    def _start_line(self) -> None:
        self._line = ""
        self._cut = 0
        self._returns = 0
        self._at_start = False

    def _extend(self, data: bytes) -> None:
        """Add to the unfinished line; `data` has no newline."""
        if not data:
            return
        visible = data.rstrip(_RETURN)
        if visible and (self._at_start or _RETURN in visible):
            visible = visible[visible.rfind(_RETURN) + 1 :]
            self._line, self._cut = "", 0
        self._returns += data.count(_RETURN)
        self._at_start = data.endswith(_RETURN)
        text = visible.decode("utf-8")
        room = self._clamp - len(self._line)
        self._line += text[:room]
        if len(text) > room:
            self.clamped_lines += not self._cut
            self._cut += len(text) - room

    def _piece(self, *, terminated: bool) -> Piece:
        note = f"[…{self._cut} characters cut…]" if self._cut else ""
        end = "\n" if terminated else ""
        return Piece(
            data=f"{self._line}{note}{end}".encode(),
            lines=1,
            stream_lines=self._returns + (terminated or not self._at_start),
            note_bytes=len(note.encode()),
        )

    def _blocks(self, data: bytes) -> Iterator[Piece]:
        """Whole lines: ordinary ones in blocks, the others one by one."""
        start = 0
        while start < len(data):
            first, after = self._next_special(data, start)
            if first > start:
                yield Piece.ordinary(data[start:first])
            if after > first:
                self._extend(data[first : after - 1])
                yield self._piece(terminated=True)
                self._start_line()
            start = after

    def _next_special(self, data: bytes, start: int) -> tuple[int, int]:
        """The next line that has a carriage return or may be too long, as a slice; empty at the end if none has."""
        found = data.find(_RETURN, start)
        end = len(data) if found < 0 else data.rfind(_NEWLINE, start, found) + 1 or start
        long = _long_line(data, start, end, self._clamp)
        if long is not None:
            return long, data.find(_NEWLINE, long) + 1
        return (end, end) if found < 0 else (end, data.find(_NEWLINE, found) + 1)


def _long_line(data: bytes, start: int, end: int, limit: int) -> int | None:
    """Where the first line of more than `limit` bytes begins. Looks at one newline in `limit` bytes, not at each."""
    while end - start > limit:
        newline = data.rfind(_NEWLINE, start, start + limit + 1)
        if newline < 0:
            return start
        start = newline + 1
    return None
