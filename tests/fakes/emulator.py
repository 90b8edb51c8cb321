"""A terminal of a few lines of code: what a person would see after the sequences that we send."""

import re
import unicodedata
from typing import Final

_PART: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[A-Z78]|.", re.DOTALL)
_EMPTY: Final = " "
_RIGHT_HALF: Final = ""
"""What stands in the second cell of a wide character."""


class Emulator:
    """A screen with what has scrolled off it. A sequence that it does not know is an error."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.gone: list[str] = []
        self._screen = [[_EMPTY] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._wraps = False
        self._saved = (0, 0)

    def feed(self, text: str) -> None:
        """Write text, as a program does whose newlines the system turns into CRLF."""
        for part in _PART.findall(text.replace("\n", "\r\n")):
            if part.startswith("\x1b"):
                self._obey(part)
            elif part == "\r":
                self._column, self._wraps = 0, False
            elif part == "\n":
                self._down()
            elif part == "\t":
                self._column, self._wraps = min(self.columns - 1, (self._column // 8 + 1) * 8), False
            else:
                self._put(part)

    @property
    def lines(self) -> list[str]:
        """All lines, those that are gone and those on the screen, without what is empty at the end."""
        lines = [*self.gone, *("".join(row).rstrip() for row in self._screen)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def cursor(self) -> tuple[int, int]:
        """Counted from the first line of all."""
        return len(self.gone) + self._row, self._column

    def _put(self, character: str) -> None:
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self._wraps or self._column + width > self.columns:
            self._column, self._wraps = 0, False
            self._down()
        row = self._screen[self._row]
        row[self._column] = character
        if width == 2:
            row[self._column + 1] = _RIGHT_HALF
        self._column += width
        if self._column >= self.columns:
            self._column, self._wraps = self.columns - 1, True

    def _down(self) -> None:
        self._wraps = False
        if self._row < self.rows - 1:
            self._row += 1
        else:
            self.gone.append("".join(self._screen.pop(0)).rstrip())
            self._screen.append([_EMPTY] * self.columns)

    def _obey(self, sequence: str) -> None:
        match sequence:
            case "\x1bD":
                self._down()
            case "\x1b[A":
                self._row, self._wraps = max(0, self._row - 1), False
            case "\x1b7":
                self._saved = self._row, self._column
            case "\x1b8":
                (self._row, self._column), self._wraps = self._saved, False
            case "\x1b[2K":
                self._screen[self._row] = [_EMPTY] * self.columns
            case "\x1b[J":
                self._screen[self._row][self._column :] = [_EMPTY] * (self.columns - self._column)
                for row in range(self._row + 1, self.rows):
                    self._screen[row] = [_EMPTY] * self.columns
            case _ if sequence.endswith("m"):
                pass
            case _:
                raise AssertionError(f"not known: {sequence!r}")
