"""The two windows on a long output: its beginning, and a tail that rolls on."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pisces.output.lines import Piece
from pisces.settings.schema import OutputSettings

_MERGE_BYTES: Final = 16384
"""Ordinary pieces are put together up to this size, so that many small ones cost neither memory nor time."""


class SinkLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of an output is shown. Past `max_bytes` or `max_lines`, a head and a tail share them."""

    max_bytes: int = 51200
    max_lines: int = 3000
    head_bytes: int = 20480
    line_chars: int = 4000
    """Longer lines are clamped."""

    def __post_init__(self) -> None:
        if not (0 <= self.head_bytes < self.max_bytes and self.max_lines >= 2 and self.line_chars >= 1):
            raise ValueError(
                f"output limits do not fit together: head_bytes={self.head_bytes} must be below "
                f"max_bytes={self.max_bytes}, max_lines={self.max_lines} must be at least 2, "
                f"line_chars={self.line_chars} at least 1"
            )

    @classmethod
    def of(cls, settings: OutputSettings) -> "SinkLimits":
        """The limits that these settings ask for."""
        return cls(max_bytes=settings.max_bytes, max_lines=settings.max_lines, head_bytes=settings.head_budget)

    @property
    def head_lines(self) -> int:
        """The head's share of the lines, the same as its share of the bytes."""
        return self.max_lines * self.head_bytes // self.max_bytes

    @property
    def clamp(self) -> int:
        """Characters of a line that are shown: so few that any line fits into the tail, even at 4 bytes each."""
        return max(1, min(self.line_chars, (self.max_bytes - self.head_bytes) // 4 - 1))


class View(msgspec.Struct, frozen=True):
    """What the windows show: everything, or a head and a tail with lines of the stream left out between them."""

    head: tuple[Piece, ...]
    tail: tuple[Piece, ...]
    left_out: int
    """Lines of the stream between head and tail."""


class Windows:
    """Holds the head and more than enough of the tail, within bounded memory."""

    def __init__(self, limits: SinkLimits, keep_bytes: int) -> None:
        self._limits = limits
        self._keep_bytes = max(keep_bytes, limits.max_bytes)
        self._head: list[Piece] = []
        self._head_bytes = self._head_lines = 0
        self._head_open = True
        self._tail: deque[Piece] = deque()
        self._tail_bytes = 0
        self.total_bytes = self.total_lines = 0
        """Bytes and lines of all that was ever added, as it would be shown without limits."""
        self.stream_lines = 0

    def add(self, piece: Piece) -> None:
        """Put a piece after the others; what is neither head nor recent is let go."""
        self.total_bytes += piece.size
        self.total_lines += piece.lines
        self.stream_lines += piece.stream_lines
        rest: Piece | None = piece
        if self._head_open:
            rest = self._fill_head(piece)
        if rest is not None:
            _append(self._tail, rest)
            self._tail_bytes += rest.size
            self._roll()

    def overflow(self, unfinished: Piece | None = None) -> bool:
        """Whether not everything can be shown, the unfinished last line included."""
        extra_bytes, extra_lines = (unfinished.size, unfinished.lines) if unfinished else (0, 0)
        return (
            self.total_bytes + extra_bytes > self._limits.max_bytes
            or self.total_lines + extra_lines > self._limits.max_lines
        )

    def view(self, unfinished: Piece | None = None) -> View:
        """What to show now, with the unfinished last line."""
        pieces = [*self._tail, unfinished] if unfinished else list(self._tail)
        tail = take_last(
            pieces,
            max_bytes=self._limits.max_bytes - self._head_bytes,
            max_lines=self._limits.max_lines - self._head_lines,
        )
        total = self.stream_lines + (unfinished.stream_lines if unfinished else 0)
        shown = sum(piece.stream_lines for piece in (*self._head, *tail))
        return View(head=tuple(self._head), tail=tuple(tail), left_out=total - shown)

    def latest(self) -> Iterator[Piece]:
        """The pieces that are held and follow one another without a gap, newest first."""
        yield from reversed(self._tail)
        held = self._head_bytes + self._tail_bytes
        if held == self.total_bytes:
            yield from reversed(self._head)

    def copy(self) -> "Windows":
        """Independent windows with the same content."""
        twin = Windows(self._limits, self._keep_bytes)
        twin.__dict__.update(self.__dict__)
        twin._head = list(self._head)
        twin._tail = deque(self._tail)
        return twin

    def _fill_head(self, piece: Piece) -> Piece | None:
        taken, rest = _split(
            piece,
            max_bytes=self._limits.head_bytes - self._head_bytes,
            max_lines=self._limits.head_lines - self._head_lines,
        )
        if taken is not None:
            _append(self._head, taken)
            self._head_bytes += taken.size
            self._head_lines += taken.lines
        self._head_open = rest is None
        return rest

    def _roll(self) -> None:
        """Let the tail go on up to twice what is kept, so that cutting it is rare."""
        if self._tail_bytes > 2 * self._keep_bytes or len(self._tail) > 2 * self._limits.max_lines:
            kept = take_last(self._tail, max_bytes=self._keep_bytes, max_lines=None)[-self._limits.max_lines :]
            self._tail = deque(kept)
            self._tail_bytes = sum(piece.size for piece in kept)


def take_last(pieces: Iterable[Piece], *, max_bytes: int, max_lines: int | None) -> list[Piece]:
    """The last pieces that fit, the first of them cut between two lines where it is too big."""
    taken: deque[Piece] = deque()
    for piece in reversed(list(pieces)):
        if piece.size > max_bytes or (max_lines is not None and piece.lines > max_lines):
            part = _last_part(piece, max_bytes, max_lines)
            if part is not None:
                taken.appendleft(part)
            break
        taken.appendleft(piece)
        max_bytes -= piece.size
        if max_lines is not None:
            max_lines -= piece.lines
    return list(taken)


def _append(pieces: "list[Piece] | deque[Piece]", piece: Piece) -> None:
    last = pieces[-1] if pieces else None
    if last and _is_ordinary(last) and _is_ordinary(piece) and last.size + piece.size <= _MERGE_BYTES:
        lines = last.lines + piece.lines
        pieces[-1] = Piece(data=last.data + piece.data, lines=lines, stream_lines=lines)
    else:
        pieces.append(piece)


def _is_ordinary(piece: Piece) -> bool:
    return piece.lines == piece.stream_lines and not piece.note_bytes


def _split(piece: Piece, *, max_bytes: int, max_lines: int) -> tuple[Piece | None, Piece | None]:
    """Cut a piece after the last line that still fits: what fits, and the rest."""
    if piece.size <= max_bytes and piece.lines <= max_lines:
        return piece, None
    if piece.lines <= 1 or max_lines <= 0:
        return None, piece
    cut = len(piece.data) if len(piece.data) <= max_bytes else piece.data.rfind(b"\n", 0, max(0, max_bytes)) + 1
    if piece.data.count(b"\n", 0, cut) > max_lines:
        cut = len(piece.data) - len(piece.data.split(b"\n", max_lines)[-1])
    if cut == 0:
        return None, piece
    return Piece.ordinary(piece.data[:cut]), Piece.ordinary(piece.data[cut:])


def _last_part(piece: Piece, max_bytes: int, max_lines: int | None) -> Piece | None:
    """The last lines of a piece that fit, or None."""
    if piece.lines <= 1 or max_bytes <= 0 or (max_lines is not None and max_lines <= 0):
        return None
    data = piece.data
    if len(data) > max_bytes:
        data = data[data.find(b"\n", len(data) - max_bytes - 1) + 1 :]
    if max_lines is not None and data.count(b"\n") > max_lines:
        data = data[len(data.rsplit(b"\n", max_lines + 1)[0]) + 1 :]
    return Piece.ordinary(data) if data else None
