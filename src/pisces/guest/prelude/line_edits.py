"""Lines of a file, by number or by what is in them: looked at, deleted, inserted. They end as they did."""

from __future__ import annotations

import re

from .arguments import compiled, located, named, text_of, whole_number
from .files import text_at
from .status import cut, tell
from .text_files import TextFile, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from .arguments import AnyPath

_PREVIEW = 500
_LINE_END = re.compile(r"\r?\n")


def lines(path: AnyPath, start: int, end: int | None) -> str:
    """Lines with their ends. There may be fewer than asked for, or none."""
    first, last = _range(start, end)
    text = text_at(path, first, None if last is None else last - first + 1)
    count = len(split_lines(text))
    shown = first + count - 1 if count else last or first
    tell(path=named(path), start=first, end=shown, count=count, preview=cut(text, _PREVIEW))
    return text


def delete_lines(path: AnyPath, start: int, end: int | None) -> int:
    """Delete a range of lines, all of which must be there."""
    first, last = _range(start, start if end is None else end)
    last = last or first
    tell(path=named(path), start=first, end=last)
    file = TextFile(located(path))
    found = split_lines(file.text)
    if last > len(found):
        raise ValueError(f"{file.path} has {_counted(len(found))}: line {max(first, len(found) + 1)} is past its end")
    file.save("".join(found[: first - 1] + found[last:]))
    count = last - first + 1
    tell(count=count)
    return count


def delete_matching(path: AnyPath, pattern: str, *, regex: bool) -> int:
    """Delete the lines in which a regular expression matches, or a text is; the end of a line is no part of it."""
    tell(path=named(path), pattern=cut(str(pattern), _PREVIEW))
    if not regex and not text_of(pattern, "the pattern"):
        raise ValueError("the pattern is empty")
    wanted = compiled(pattern if regex else re.escape(pattern))
    file = TextFile(located(path))
    found = split_lines(file.text)
    kept = [line for line in found if not wanted.search(_LINE_END.sub("", line))]
    file.save("".join(kept))
    count = len(found) - len(kept)
    tell(count=count)
    return count


def insert_at(path: AnyPath, line_num: int, text: str, *, after: bool) -> Path:
    """Insert whole lines: the last is ended if it is not, and so is the one before. An empty text inserts none."""
    number = whole_number(line_num, "line_num", 0)
    inserted = text_of(text, "text")
    tell(path=named(path), line=number, position="after" if after else "before")
    file = TextFile(located(path))
    found = split_lines(file.text)
    if number > len(found):
        raise ValueError(f"{file.path} has {_counted(len(found))}: there is no line {number} to insert at")
    end = "\r\n" if _mostly_crlf(file.text) else "\n"
    new = split_lines(_LINE_END.sub(end, inserted) if end == "\r\n" else inserted)
    at = number if after else max(0, number - 1)
    if new:
        file.save("".join([*_ended(found[:at], end), *_ended(new, end), *found[at:]]))
    tell(lines_inserted=len(new))
    return file.path


def _range(start: int, end: int | None) -> tuple[int, int | None]:
    first = whole_number(start, "start", 1)
    if end is None:
        return first, None
    last = whole_number(end, "end", 1)
    if first > last:
        raise ValueError(f"start is after end: {first} to {last}")
    return first, last


def _ended(found: list[str], end: str) -> list[str]:
    if not found or found[-1].endswith("\n"):
        return found
    return [*found[:-1], found[-1] + end]


def _mostly_crlf(text: str) -> bool:
    return text.count("\r\n") * 2 > text.count("\n")


def _counted(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"
