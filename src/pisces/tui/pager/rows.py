"""A file as rows: its lines, those that are too long in parts. Whatever is in it, a row is short.

The file is cut into pages of whole rows, of which only the beginnings are kept: those of 100 MB take 40 KB.
"""

import os
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Final

import msgspec

from pisces.render.shown_text import clean_line

PAGE: Final = 64 * 1024
LONGEST: Final = 4096
"""Bytes of a row."""
_PAGES_KEPT: Final = 8


class Parts(msgspec.Struct, frozen=True):
    """Open files that are shown as one. Only the last may grow."""

    descriptors: tuple[int, ...]
    starts: tuple[int, ...] = (0,)
    """The byte of the whole that each begins with."""
    first_lines: tuple[int | None, ...] = (None,)
    """The number, from 0, of the line that each begins with; None for one that follows without a gap."""

    @property
    def size(self) -> int:
        """The bytes of the whole as it is now."""
        return self.starts[-1] + os.fstat(self.descriptors[-1]).st_size

    def read(self, start: int, first_line: int) -> tuple[bytes, int, bool]:
        """At most a page of one part, the number of its first line, and whether another part follows at its end."""
        at = bisect_right(self.starts, start) - 1
        offset = start - self.starts[at]
        data = os.pread(self.descriptors[at], PAGE, offset)
        ends = at + 1 < len(self.starts) and start + len(data) == self.starts[at + 1]
        known = self.first_lines[at] if offset == 0 else None
        return data, first_line if known is None else known, ends


class Page(msgspec.Struct, frozen=True):
    """Some rows, and where they are."""

    start: int
    """The byte that it begins with."""
    first_row: int
    first_line: int
    """The number, from 0, of the line that its first row belongs to."""
    rows: list[bytes]
    newlines: int
    """How many lines end in it."""
    size: int
    final: bool
    """Whether it stays as it is when the file grows."""


def read_page(parts: Parts, start: int, first_row: int, first_line: int) -> Page:
    """The page that begins here; without rows at the end of the file."""
    data, first_line, ends = parts.read(start, first_line)
    final = len(data) == PAGE or ends
    if final and not ends:
        data = data[: data.rfind(b"\n") + 1 or _between_characters(data, PAGE)]
    return Page(start, first_row, first_line, _rows_of(data), data.count(b"\n"), len(data), final)


def pages(parts: Parts, start: int = 0, first_row: int = 0, first_line: int = 0) -> Iterator[Page]:
    """All pages from one that begins here, up to one that would be longer if the file grew."""
    while (page := read_page(parts, start, first_row, first_line)).rows:
        yield page
        if not page.final:  # What is written meanwhile belongs to this page: as one of its own it would cut a line.
            return
        start, first_row, first_line = start + page.size, first_row + len(page.rows), first_line + page.newlines


def shown(row: bytes) -> str:
    """The text of a row as it can be shown."""
    text = row.decode("utf-8", "replace").removesuffix("\n")
    return text if text.isascii() and text.isprintable() else clean_line(text, coloured=False, most=LONGEST)


class PagedFile:
    """The rows of an open file, which may grow. It may be scanned in one thread and read in another."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.rows = 0
        """How many are known so far."""
        self.scanned = 0
        """Bytes that have been looked at."""
        self._newlines = 0
        self._starts, self._first_rows, self._first_lines = array("Q"), array("Q"), array("Q")
        self._last: Page | None = None
        self._kept: OrderedDict[int, Page] = OrderedDict()
        self._lock = Lock()

    @property
    def size(self) -> int:
        """The bytes of the file as it is now."""
        return self.parts.size

    @property
    def whole(self) -> bool:
        """Whether all of it has been looked at."""
        return self.scanned >= self.size

    @property
    def lines(self) -> int:
        """How many lines are known so far; one that has no end yet counts."""
        last = self._last
        return self._newlines + (last is not None and not last.rows[-1].endswith(b"\n"))

    def scan(self, most: int) -> bool:
        """Look at so many further bytes or a little more; whether there were any."""
        before = self.scanned
        while self.scanned < before + most and self._take_page():
            pass
        return self.scanned > before

    def row(self, number: int) -> bytes:
        """A row that is known."""
        page = self._page_of(number)
        return page.rows[number - page.first_row]

    def line_of(self, number: int) -> int:
        """The number, from 1, of the line that a row belongs to."""
        page = self._page_of(number)
        return page.first_line + 1 + sum(row.endswith(b"\n") for row in page.rows[: number - page.first_row])

    def row_of(self, line: int) -> int:
        """The row that a line, counted from 1, begins with; the last one before it where there is no such line."""
        if line <= 1 or not self.rows:
            return 0
        with self._lock:
            first = self._first_rows[bisect_left(self._first_lines, line - 1) - 1]
        page, ends = self._page_of(first), 0
        for at, row in enumerate(page.rows):
            ends += row.endswith(b"\n")
            if ends == line - 1 - page.first_line:
                return min(first + at + 1, self.rows - 1)
        return page.first_row + len(page.rows) - 1

    def page_at(self, byte: int) -> tuple[int, int]:
        """Where the page begins that this byte is in, or will be when the file grows; and its first row."""
        with self._lock:
            at = bisect_right(self._starts, byte) - 1
            return (self._starts[at], self._first_rows[at]) if at >= 0 else (0, 0)

    def _take_page(self) -> bool:
        """Read the next page, or the last one again when the file has grown; whether there was one."""
        if self.whole:
            return False
        last, again = self._last, self._last is not None and not self._last.final
        if again and last is not None:
            page = read_page(self.parts, last.start, last.first_row, last.first_line)
        else:
            page = read_page(self.parts, self.scanned, self.rows, self._newlines)
        if not page.rows:
            return False
        with self._lock:
            if again:
                self._kept.pop(len(self._starts) - 1, None)
            else:
                self._starts.append(page.start)
                self._first_rows.append(page.first_row)
                self._first_lines.append(page.first_line)
            self.scanned = page.start + page.size
            self.rows, self._newlines = page.first_row + len(page.rows), page.first_line + page.newlines
            self._last = page
        return True

    def _page_of(self, number: int) -> Page:
        with self._lock:
            at = bisect_right(self._first_rows, number) - 1
            page = self._kept.get(at)
            if page is None:
                if self._last is not None and at == len(self._starts) - 1:
                    return self._last
                page = read_page(self.parts, self._starts[at], self._first_rows[at], self._first_lines[at])
                self._kept[at] = page
                if len(self._kept) > _PAGES_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(at)
            return page


def _rows_of(data: bytes) -> list[bytes]:
    lines = data.splitlines(keepends=True) if b"\r" not in data else _lines(data)
    if max(map(len, lines), default=0) <= LONGEST + 1:
        return lines
    return [part for line in lines for part in _parts(line)]


def _lines(data: bytes) -> list[bytes]:
    """Lines that end with a newline only."""
    parts = data.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])


def _parts(line: bytes) -> Iterator[bytes]:
    at = 0
    while len(line) - at > LONGEST + 1:
        end = _between_characters(line, at + LONGEST)
        yield line[at:end]
        at = end
    yield line[at:]


def _between_characters(data: bytes, at: int) -> int:
    """The next place before this one where no character of UTF-8 is cut in two."""
    for back in range(4):
        if at - back < len(data) and data[at - back] & 0xC0 != 0x80:
            return at - back
    return at
