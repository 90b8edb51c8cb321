"""Text of others on a screen: what would reorder it, pile up over it or be measured in two ways is made harmless.

`terminal_text` takes out what a terminal obeys. What is left can still break a line: a control of direction turns the
rest of it around, a thousand accents on one letter cover the lines above, and a family joined to one picture is two
columns wide in some terminals and six in others.
"""

import re
import unicodedata
from typing import Final

from pisces.render.terminal_text import LONGEST_LINE, with_colours, without_control

TAB: Final = 8
MOST_ACCENTS: Final = 4
"""So many marks are shown on one letter. Vietnamese and Hebrew need two or three."""

_NAMED: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
"""Shown as their escapes: a reader has to know that text was to look like another."""
_ANY_NAMED: Final = re.compile(f"[{''.join(sorted(_NAMED))}]")
_SEEN: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
"""Signs that Unicode counts among the invisible, and that can be seen."""
_APART: Final = "\u200c"
"""Keeps letters apart, as Persian needs it. The one that joins is dropped: no two agree how wide the joined are."""
_VARIANTS: Final = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""What makes one picture of another, narrower or wider than the same terminal says it is."""
_ESCAPES: Final = re.compile(r"(\x1b\[[0-9;:]*m)")


def shown(line: str) -> str:
    """A line that has no control in it, as it can be shown: as wide everywhere, from left to right, tabs as spaces."""
    if "\t" in line:
        line = _untabbed(line)
    if line.isascii():
        return line
    marks = {character for character in set(line) if unicodedata.category(character) in {"Mn", "Me", "Cf", "Zl", "Zp"}}
    if not marks and not _VARIANTS.search(line):
        return line
    return "".join(_harmless(_VARIANTS.sub("", line), marks))


def straight(text: str) -> str:
    """Text of any length that is written as it comes: what would turn a line around is shown as its escape."""
    return text if text.isascii() else _ANY_NAMED.sub(lambda found: _escape(found[0]), text)


def clean_line(line: str, *, coloured: bool, most: int = LONGEST_LINE) -> str:
    """One line as it came, ready for a screen; cut where it is longer than `most`. Colours stay if they are wanted."""
    if len(line) <= most and line.isascii() and line.isprintable():
        return line
    if "\r" in line:
        line = line.rstrip("\r").rpartition("\r")[2]
    bare = _ESCAPES.sub("", line) if len(line) > most and "\x1b" in line else line
    cut = len(bare) - most
    line = bare[:most] if cut > 0 else line  # What is cut need not be cleaned, and has no colours to go on with.
    line = with_colours(line) if coloured else without_control(line)
    return shown(f"{line}[…{cut} characters cut…]" if cut > 0 else line)


def one_line(text: str, most: int = 400) -> str:
    """A name, a title or a path of others on one line."""
    return shown(without_control(text[: most * 4]).replace("\n", " ").replace("\t", " ").strip()[:most])


def _untabbed(line: str) -> str:
    parts, column = list[str](), 0
    for part in _ESCAPES.split(line):
        if part.startswith("\x1b"):
            parts.append(part)
            continue
        into = column % TAB
        parts.append((" " * into + part).expandtabs(TAB)[into:])
        column += len(parts[-1])
    return "".join(parts)


def _harmless(line: str, marks: set[str]) -> list[str]:
    made, piled, before = list[str](), 0, ""
    for character in line:
        if character not in marks:
            made.append(character)
            piled, before = 0, character
        elif character in _NAMED:
            made.append(_escape(character))
            piled, before = 0, ""
        elif character == _APART:
            if before.isalpha():
                made.append(character)
                before = ""  # One is enough.
        elif unicodedata.category(character) == "Cf" and character not in _SEEN:
            continue
        elif piled < MOST_ACCENTS:
            made.append(character)
            piled += 1
    return made


def _escape(character: str) -> str:
    return ascii(character)[1:-1]
