"""A line of status below output that streams by: which sequences put it there, and take it away again.

Sans-I/O: text goes in, and what to write to the terminal comes out. The cursor always rests where the output goes on,
and the line stands in that row or in the one below. So it is found and erased wherever a terminal has moved both of
them meanwhile, and output is never cut, moved or written twice.
"""

import unicodedata
from typing import Final

_DOWN: Final = "\x1bD"
"""One row down in the same column; the screen scrolls where there is none."""
_UP: Final = "\x1b[A"
_ERASE_ROW: Final = "\x1b[2K"
_ERASE_REST: Final = "\x1b[J"
_SAVE, _RESTORE = "\x1b7", "\x1b8"

_FEWEST_ROWS: Final = 3
"""With fewer there is no row to spare below a line that has begun."""
_LONGEST: Final = 8192
"""Characters of an unfinished line that are measured; of a longer one nobody needs to know where it ends."""
_TAB: Final = 8
_MODIFIERS: Final = (range(0x1F1E6, 0x1F200), range(0x1F3FB, 0x1F400))
"""Half flags and skin tones: how wide they are depends on what is beside them, and on the terminal."""

_WIDENER: Final = "\N{VARIATION SELECTOR-16}"
"""Makes a picture of the character before it, which may be wider then."""


class BottomLine:
    """One terminal, on which output is written and a line may stand below it."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns = columns
        self._rows = rows
        self._column = 0
        self._line_begun = False
        self._certain = True
        """Whether the column is known. Until the next line begins it is not, after what terminals measure variously."""
        self._shown = False

    @property
    def at_line_start(self) -> bool:
        """Whether what is written next begins a line."""
        return not self._line_begun

    def resized(self, columns: int, rows: int) -> None:
        """The terminal has this size now; it may have laid out anew what stands on it."""
        if (columns, rows) != (self._columns, self._rows):
            self._columns, self._rows = columns, rows
            self._certain = not self._line_begun

    def output(self, text: str) -> str:
        """Write text, with nothing below it."""
        erased = self.erase()
        self._follow(text)
        return erased + text

    def draw(self, line: str) -> str:
        """Write the line below the output, in place of the one that stands there. It must be narrower than the screen.

        Nothing is written where the output has stopped at a place from which there may be no way back: at the right
        edge, or behind characters that terminals measure variously.
        """
        if not self._line_begun:
            self._shown = True
            return f"\r{line}{_ERASE_REST}\r"
        if not self._certain or self._column >= self._columns or self._rows < _FEWEST_ROWS:
            return ""
        self._shown = True
        return f"{_DOWN}{_UP}{_SAVE}\r\n{line}{_ERASE_REST}{_RESTORE}"

    def erase(self, *, in_any_case: bool = False) -> str:
        """Take the line away, if it stands there; or in any case, where somebody comes between us and the writing."""
        if not self._shown and not in_any_case:
            return ""
        self._shown = False
        # What is in the row of the cursor is the line itself, or output that stays, also to the right of the cursor.
        return f"{_DOWN}{_ERASE_ROW}{_ERASE_REST}{_UP}" if self._line_begun else f"\r{_ERASE_REST}"

    def _follow(self, text: str) -> None:
        """Know where the cursor is after the text."""
        end = text.rfind("\n")
        if end >= 0:
            self._column, self._line_begun, self._certain = 0, False, True
        rest = text[end + 1 :]
        if not rest:
            return
        self._line_begun = True
        if rest.isascii() and "\t" not in rest and "\r" not in rest:
            self._column = (self._column + len(rest) - 1) % self._columns + 1
        elif len(rest) > _LONGEST:
            self._certain = False
        else:
            for character in rest:
                self._pass(character)

    def _pass(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\t":
            self._certain &= self._column < self._columns
            self._column = min(self._columns - 1, (self._column // _TAB + 1) * _TAB)
        else:
            width = width_of(character)
            self._certain &= width is not None
            needed = width or 0
            self._column = self._column + needed if self._column + needed <= self._columns else needed


def width_of(character: str) -> int | None:
    """How many columns a character takes; None where terminals do not agree."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Mc", "Cf"):
        return None
    if any(ord(character) in modifiers for modifiers in _MODIFIERS):
        return None
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, columns: int) -> str:
    """The text, or as much of its beginning as fits into so many columns by whichever measure, and an ellipsis."""
    if text.isascii() and len(text) <= columns:
        return text
    most, used = max(0, columns), 0
    for place, character in enumerate(text):
        used += _at_most(character)
        if used > most:
            return _shortened(text[:place], most)
    return text


def most_columns(text: str) -> int:
    """How many columns a text takes in the terminal that gives it most room."""
    return sum(map(_at_most, text))


def _shortened(text: str, columns: int) -> str:
    while text and most_columns(text) + _at_most("…") > columns:
        text = text[:-1]
    return f"{text.rstrip()}…" if columns >= _at_most("…") else ""


def _at_most(character: str) -> int:
    """The width of a character in the terminal that gives it most room."""
    if character.isascii():
        return 1
    if character == _WIDENER:
        return 1
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if width_of(character) != 1 or unicodedata.east_asian_width(character) == "A" else 1
