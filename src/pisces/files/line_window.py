"""Some lines of a text that comes in blocks, whatever its size: the wanted ones, as many as there is room for.

Lines that nobody wants are only counted, in bulk. A line that is too long is kept in part. So the memory that is used
does not grow with the file, nor with its longest line.
"""

import codecs
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from pisces.output.artifact_text import LineRange

MAX_CHARS: Final = 4000
"""The longest line that is shown whole."""
_WIDEST: Final = 4
"""The most bytes that a character takes."""
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_GAP: Final = "…"


class Limits(msgspec.Struct, frozen=True):
    """How much may be shown."""

    max_bytes: int
    max_lines: int
    max_json: int | None = None
    """How many bytes the text may have in a JSON string, where that counts: line ends and quotes have two there."""

    @property
    def longest_line(self) -> int:
        """The longest line that is shown whole, in characters."""
        return min(MAX_CHARS, self.max_bytes // _WIDEST)


class Window(msgspec.Struct, kw_only=True):
    """What is shown, and of what."""

    text: str = ""
    shown: tuple[LineRange, ...] = ()
    whole: tuple[LineRange, ...] = ()
    """Those of them that are shown exactly as they are: not cut, and all of it text."""
    total_lines: int = 0
    total_bytes: int = 0
    """Of the text in UTF-8."""
    full: bool = False
    """Whether there was no room for all that was wanted."""
    clamped: int = 0
    """How many of the shown lines are shown in part."""
    crlf: int = 0
    """How many of the shown lines end in CRLF."""
    bare: int = 0
    """How many end in LF alone."""
    invalid: bool = False
    """Whether something that is shown is no UTF-8."""


def window(blocks: Iterable[bytes], wanted: Sequence[LineRange], limits: Limits, *, numbered: bool) -> Window:
    """The wanted lines, all without any, ascending. With `numbered`, each has its number and no line end of its own."""
    taker = _Taker(wanted or (LineRange(1),), limits, numbered=numbered)
    for block in blocks:
        taker.feed(block)
    return taker.finish()


class _Line:
    """A line as it comes, kept up to the clamp."""

    def __init__(self, clamp: int) -> None:
        self._clamp = clamp
        self.reset()

    def reset(self) -> None:
        self.begun = False
        self._head = bytearray()
        self._more = 0
        self._last = b""

    def add(self, piece: bytes) -> None:
        self.begun = True
        if not piece:
            return
        room = self._clamp * _WIDEST + 1 - len(self._head)
        self._head += piece[:room]
        if len(piece) > room:
            self._more += len(piece[room:].translate(None, _CONTINUATION))
        self._last = piece[-1:]

    def ends_in_return(self) -> bool:
        return self._last == b"\r"

    def shown(self, *, without_return: bool) -> tuple[str, int, bool]:
        """The text, how many characters of it are left out, and whether all of it was UTF-8."""
        if without_return and self._more:
            self._more -= 1
        elif without_return:
            del self._head[-1:]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(bytes(self._head), final=not self._more)
        half = len(decoder.getstate()[0])  # Of a character whose other half is not kept.
        valid = text.encode("utf-8") == self._head[: len(self._head) - half]
        return text[: self._clamp], max(0, len(text) - self._clamp) + self._more + bool(half), valid


class _Taker:
    """Takes the text block by block, and what is wanted from it."""

    def __init__(self, wanted: Sequence[LineRange], limits: Limits, *, numbered: bool) -> None:
        self._wanted = wanted
        self._next = 0
        self._limits = limits
        self._numbered = numbered
        self._number = 1
        self._line = _Line(limits.longest_line)
        self._window = Window()
        self._parts: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._whole: list[tuple[int, int]] = []
        self._room = limits.max_bytes
        self._json_room = limits.max_json
        self._lines = 0
        self._last = b""

    def feed(self, block: bytes) -> None:
        start = 0
        while start < len(block):
            span = self._span()
            if span is None:
                self._number += block.count(b"\n", start)
                break
            if self._number < span.first:
                start = self._skip(block, start, span.first - self._number)
                continue
            end = block.find(b"\n", start)
            if end < 0:
                self._line.add(block[start:])
                break
            self._line.add(block[start:end])
            self._take("\n")
            start = end + 1
        self._window.total_bytes += len(block)
        self._last = block[-1:] or self._last

    def finish(self) -> Window:
        unterminated = self._last not in {b"", b"\n"}
        total = self._number - 1 + unterminated
        if self._line.begun:
            self._take("")
        made = self._window
        made.total_lines = total
        made.text = "".join(self._parts)
        made.shown = tuple(LineRange(first, last) for first, last in self._spans)
        made.whole = tuple(LineRange(first, last) for first, last in self._whole)
        return made

    def _span(self) -> LineRange | None:
        """The range that the present line is in, or that comes next; None if nothing more is wanted, or fits."""
        while self._next < len(self._wanted) and not self._window.full:
            span = self._wanted[self._next]
            if span.last is None or span.last >= self._number:
                return span
            self._next += 1
        return None

    def _skip(self, block: bytes, start: int, lines: int) -> int:
        """Go past that many line ends, or as many as there are; where that leads to."""
        found = block.count(b"\n", start)
        if found < lines:
            self._number += found
            return len(block)
        low, high = start, len(block)  # By halves: to split the block would make an object for each line.
        while high - low > 1:
            middle = (low + high) // 2
            if block.count(b"\n", start, middle) >= lines:
                high = middle
            else:
                low = middle
        self._number += lines
        return high

    def _take(self, end: str) -> None:
        """Show the line that is complete now, if there is room."""
        crlf = bool(end) and self._line.ends_in_return()
        text, cut, valid = self._line.shown(without_return=crlf)
        self._line.reset()
        shown = f"{self._number:>6}\t{text}" if self._numbered else text
        size = len(shown.encode("utf-8")) + 1
        in_json = 0 if self._json_room is None else len(msgspec.json.encode(shown))  # Its quotes are as long as \\n.
        if self._lines and (
            size > self._room or in_json > (self._json_room or 0) or self._lines >= self._limits.max_lines
        ):
            self._window.full = True
        else:
            note = f"[…{cut} characters cut…]" if cut else ""
            self._append(f"{shown}{note}", "\r\n" if crlf else end)
            self._room -= size
            if self._json_room is not None:
                self._json_room -= in_json
            if valid and not cut:
                _extend(self._whole, self._number)
            self._window.clamped += bool(cut)
            self._window.crlf += crlf
            self._window.bare += bool(end) and not crlf
            self._window.invalid |= not valid
        self._number += bool(end)

    def _append(self, line: str, end: str) -> None:
        self._lines += 1
        gap = f"{_GAP}\n" if self._spans and self._spans[-1][1] != self._number - 1 else ""
        _extend(self._spans, self._number)
        if self._numbered:
            before = "\n" if self._parts else ""
            self._parts.append(f"{before}{gap}{line}")
        else:
            self._parts.append(f"{gap}{line}{end}")


def _extend(spans: list[tuple[int, int]], number: int) -> None:
    """Add a line to ranges that are ascending: to the last one if it comes right after that."""
    if spans and spans[-1][1] == number - 1:
        spans[-1] = (spans[-1][0], number)
    else:
        spans.append((number, number))
