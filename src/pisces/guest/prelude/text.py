"""Text as lines: sorted, counted, cut into columns. Lines end at a line feed alone."""

from __future__ import annotations

from .arguments import text_of, whole_number
from .status import cut, said, tell
from .text_files import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_TOP = 10
_ITEM = 100


def sort_lines(text: str, *, reverse: bool, unique: bool) -> str:
    """As `sort` does with LC_ALL=C: by the numbers of their characters. The last line is ended only if it was."""
    found, end = _lines(text)
    ordered = sorted(set(found) if unique else found, reverse=bool(reverse))
    tell(lines=len(ordered), unique=bool(unique), reverse=bool(reverse))
    return _joined(ordered, end)


def uniq(text: str, *, count: bool) -> str | list[tuple[int, str]]:
    """As `uniq` and `uniq -c` do. The last line is ended only if it was."""
    from itertools import groupby

    found, end = _lines(text)
    groups = [(sum(1 for _ in same), line) for line, same in groupby(found)]
    tell(groups=len(groups), count_mode=bool(count))
    return groups if count else _joined([line for _, line in groups], end)


def counter(items: Iterable[Any], *, limit: int | None, reverse: bool) -> list[tuple[int, Any]]:
    """Those that occur as often stay in the order in which they first came."""
    from collections import Counter

    most = None if limit is None else whole_number(limit, "limit", 0)
    try:
        counts = Counter(_lines(items)[0] if isinstance(items, str) else items)
    except TypeError as error:
        raise TypeError(f"counter() takes a text, or things that can be counted: {error}") from None
    ordered = sorted(counts.items(), key=lambda pair: pair[1], reverse=bool(reverse))
    found = [(number, item) for item, number in ordered][:most]
    top = [[number, cut(said(item), _ITEM)] for number, item in found[:_TOP]]
    tell(unique=len(counts), total=sum(counts.values()), top=top)
    return found


def cols(text: str, *indices: int, sep: str | None) -> str:
    """As `awk` prints them: in the order given, a column that a line does not have as nothing; -1 is the last."""
    found, end = _lines(text)
    if not indices:
        raise ValueError("cols() needs the numbers of the columns: cols(text, 0, 2)")
    wanted = [whole_number(index, "a column", index if isinstance(index, int) else 0) for index in indices]
    if sep is not None and not text_of(sep, "sep"):
        raise ValueError("sep is empty")
    tell(lines=len(found), columns=wanted)
    return _joined([_columns(line, wanted, sep) for line in found], end)


def _columns(line: str, wanted: list[int], sep: str | None) -> str:
    ending = "\r" if line.endswith("\r") else ""
    fields = line[: len(line) - len(ending)].split(sep)
    size = len(fields)
    picked = (fields[index] if -size <= index < size else "" for index in wanted)
    return (" " if sep is None else sep).join(picked) + ending


def _joined(found: list[str], end: str) -> str:
    """The lines as one text. A last line with nothing in it is ended in any case: it would not be there otherwise."""
    return "\n".join(found) + ("\n" if found and not found[-1] else end)


def _lines(text: str) -> tuple[list[str], str]:
    """The lines of a text without their ends, and how the last one ends."""
    end = "\n" if text_of(text, "text").endswith("\n") else ""
    return [line.removesuffix("\n") for line in split_lines(text)], end
