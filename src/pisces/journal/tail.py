"""Following a journal while somebody else writes it: each time, the whole lines that have been added."""

import time
from pathlib import Path
from typing import Final

import msgspec

from pisces.journal.entries import AnyEntry
from pisces.journal.line import decode_line

_STEP: Final = 256 << 10
"""About how many bytes are read before the clock is looked at."""
OUTPUT: Final = (b'{"type":"Output",', b'{"type":"TextCut",')
"""How the lines begin that say what a cell said: nearly all bytes of a journal are in them."""


class Placed(msgspec.Struct, frozen=True):
    """An entry, and where in the file it is."""

    entry: AnyEntry
    start: int
    end: int


class JournalTail:
    """One journal, from a byte on. What is damaged, or of a kind that is not known, is passed over and counted."""

    def __init__(self, path: Path, *, start: int = 0, end: int | None = None, skip: tuple[bytes, ...] = ()) -> None:
        """With `end`, what was written after that byte is not read. Lines that begin as `skip` says are passed over."""
        self.path = path
        self.offset = start
        """Up to where it has been read."""
        self.not_understood = 0
        self._end = end
        self._skip = (*skip, b"\n")

    @property
    def finished(self) -> bool:
        """Whether it has been read up to where it was to be."""
        return self._end is not None and self.offset >= self._end

    def read(self, seconds: float = 0.02) -> list[Placed]:
        """What has been added since the last time, or as much of it as can be read in about that time.

        Raises `OSError` when the file cannot be read.
        """
        found: list[Placed] = []
        until = time.monotonic() + seconds
        with self.path.open("rb") as file:
            file.seek(self.offset)
            while self._take(file.readlines(_STEP), found) and time.monotonic() < until:
                pass
        return found

    def _take(self, lines: list[bytes], found: list[Placed]) -> bool:
        """Whether there may be more."""
        for line in lines:
            end = self.offset + len(line)
            if not line.endswith(b"\n"):
                return False
            if self._end is not None and end > self._end:
                self._end = self.offset
                return False
            if not line.startswith(self._skip):
                try:
                    found.append(Placed(decode_line(line), self.offset, end))
                except msgspec.DecodeError:
                    self.not_understood += 1
            self.offset = end
        return bool(lines)
