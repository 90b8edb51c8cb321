"""Why a text was not found: what differs, or which lines come nearest to it."""

import difflib
import heapq
import re
from collections.abc import Sequence
from typing import Final

_LINES: Final = 200_000
"""How many lines are looked at."""
_COMPARED: Final = 200
"""How many of them, those with the most words in common, are compared letter by letter."""
_CHARS: Final = 200
_SHOWN: Final = 3
_SHOWN_BLOCK: Final = 8
_LIKE: Final = 0.5
_WORD: Final = re.compile(r"\w+")


def why_not_found(text: str, wanted: str) -> str:
    """A sentence or two, with the lines that were perhaps meant. It takes well under a second, whatever the text.

    The text is that of the file with `�` in place of bytes that are no UTF-8.
    """
    if (found := text.find(wanted)) >= 0:  # In the text, and not in the bytes that it was decoded from.
        line = text.count("\n", 0, found) + 1
        return f"At line {line} `�` stands for bytes that are no UTF-8: only what is around them can be replaced."
    plain = _one_line_end(text)
    sought = _one_line_end(wanted)
    if (found := plain.find(sought)) >= 0:
        line = plain.count("\n", 0, found) + 1
        return f"It is at line {line} with other line ends (CRLF or LF): only those differ."
    lines = plain.split("\n", _LINES)[:_LINES]
    if (span := _but_for_space(lines, sought)) is not None:
        first, last = span
        where = f"line {first + 1}" if first == last else f"lines {first + 1}-{last + 1}"
        shown = _numbered(lines, range(first, min(last + 1, first + _SHOWN_BLOCK)))
        return f"Only white space differs from {where}:\n{shown}"
    if near := _nearest(lines, sought):
        return "The lines nearest to its first one are:\n" + _numbered(lines, sorted(near))
    return "No line is like its first one."


def _but_for_space(lines: Sequence[str], sought: str) -> tuple[int, int] | None:
    """The lines, counted from 0, that are the wanted ones when all white space is taken for one blank."""
    wanted = [_collapsed(line) for line in sought.split("\n")]
    while wanted and not wanted[0]:
        wanted.pop(0)
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted:
        return None
    collapsed = [_collapsed(line) for line in lines]
    for first in range(len(collapsed) - len(wanted) + 1):
        if _fits(collapsed, first, wanted):
            return first, first + len(wanted) - 1
    return None


def _fits(collapsed: Sequence[str], first: int, wanted: Sequence[str]) -> bool:
    if len(wanted) == 1:
        return wanted[0] in collapsed[first]
    last = first + len(wanted) - 1
    return (
        collapsed[first].endswith(wanted[0])
        and collapsed[last].startswith(wanted[-1])
        and collapsed[first + 1 : last] == list(wanted[1:-1])
    )


def _nearest(lines: Sequence[str], sought: str) -> list[int]:
    """Up to three lines that are like the first wanted one that is not blank."""
    first = next((line.strip()[:_CHARS] for line in sought.split("\n") if line.strip()), "")
    words = set(_WORD.findall(first))
    if not words:
        return []
    shared = ((len(words.intersection(_WORD.findall(line[:_CHARS]))), -number) for number, line in enumerate(lines))
    candidates = [-number for count, number in heapq.nlargest(_COMPARED, shared) if count]
    matcher = difflib.SequenceMatcher(b=first)
    scored: list[tuple[float, int]] = []
    for number in candidates:
        matcher.set_seq1(lines[number].strip()[:_CHARS])
        if matcher.quick_ratio() >= _LIKE and (ratio := matcher.ratio()) >= _LIKE:
            scored.append((ratio, -number))
    return [-number for _, number in heapq.nlargest(_SHOWN, scored)]


def _numbered(lines: Sequence[str], numbers: Sequence[int]) -> str:
    return "\n".join(f"{number + 1:>6}\t{_clipped(lines[number])}" for number in numbers)


def _clipped(line: str) -> str:
    return line if len(line) <= _CHARS else f"{line[:_CHARS]}…"


def _collapsed(line: str) -> str:
    return " ".join(line.split())


def _one_line_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
