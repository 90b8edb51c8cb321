"""The lines of files that match a pattern."""

from __future__ import annotations

import collections
import contextlib
import itertools
import re
import sys

from .arguments import compiled, located, named, text_of, whole_number
from .globs import Glob
from .status import cut, tell
from .text_files import check_text
from .walking import Walk
from .whole_files import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path
    from typing import BinaryIO, Optional

    from .arguments import AnyPath, AnyPattern

    Match = Callable[[str], Optional[object]]
    Line = tuple[int, str]

_SHOWN = 10
_HEAD = 8192
"""How much of a file is looked at before it is taken for text."""
_MARK = "\ufeff"


def grep(pattern: AnyPattern, path: AnyPath, *, ignore_case: bool, literal: bool, context: int) -> list[Line]:
    """The lines of a file that match, and as many before and after each as `context` says."""
    matches = _matcher(pattern, ignore_case=ignore_case, literal=literal)
    around = min(whole_number(context, "context", 0), sys.maxsize)
    with _open_text(located(path)) as file:
        count, hits, found = _with_context(_lines(file), matches, around)
    shown = [{"line": number, "text": cut(text, 100)} for number, text in hits]
    tell(pattern=_shown(pattern), path=named(path), count=count, hits=shown)
    return found


def rgrep(
    pattern: AnyPattern,
    path: AnyPath,
    *,
    glob_pattern: str,
    ignore_case: bool,
    literal: bool,
    limit: int,
    hidden: bool,
) -> list[tuple[Path, int, str]]:
    """The lines that match in all text files below a folder, or in one file; at most as many as `limit` says."""
    matches = _matcher(pattern, ignore_case=ignore_case, literal=literal)
    most = min(whole_number(limit, "limit", 0), sys.maxsize)
    glob = Glob(text_of(glob_pattern, "glob_pattern"), hidden=hidden, anywhere=True)
    start = located(path)
    everything = _hits(start, matches) if start.is_file() else _hits_below(Walk(start, glob), matches)
    with contextlib.closing(everything):
        found = list(itertools.islice(everything, most))
    hits = [{"file": str(file), "line": line, "text": cut(text, 80)} for file, line, text in found[:_SHOWN]]
    tell(pattern=_shown(pattern), path=named(path), count=len(found), hits=hits)
    return found


def _hits(path: Path, matches: Match) -> Generator[tuple[Path, int, str]]:
    """The hits in one file. Raises as `_open_text` does."""
    with _open_text(path) as file:
        yield from ((path, number, text) for number, text in _lines(file) if matches(text))


def _hits_below(files: Walk, matches: Match) -> Generator[tuple[Path, int, str]]:
    """The hits in all plain text files; those that cannot be read are counted."""
    for path in files.plain_files():
        try:
            yield from _hits(path, matches)
        except (ValueError, FileNotFoundError):  # It is binary, or it went away meanwhile.
            pass
        except OSError:
            files.skip(str(path))


def _with_context(lines: Iterator[Line], matches: Match, around: int) -> tuple[int, list[Line], list[Line]]:
    """How many lines match, the first of those, and all of them with the lines around them."""
    hits: list[Line] = []
    found: list[Line] = []
    before: collections.deque[Line] = collections.deque(maxlen=around)
    count = last = 0
    for line in lines:
        if matches(line[1]):
            found += [*before, line]
            before.clear()
            count, last = count + 1, line[0] + around
            if count <= _SHOWN:
                hits.append(line)
        elif line[0] <= last:
            found.append(line)
        else:
            before.append(line)
    return count, hits, found


def _lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file with their numbers, without their ends; bytes that are no UTF-8 become U+FFFD."""
    for number, raw in enumerate(file, 1):
        text = raw.decode("utf-8", "replace")
        if text.endswith("\n"):
            text = text[: -2 if text.endswith("\r\n") else -1]
        yield number, text.removeprefix(_MARK) if number == 1 else text


def _open_text(path: Path) -> BinaryIO:
    """Open a text file. Raises `OSError`, and `ValueError` for what is binary or no plain file."""
    file = open_plain(path)
    try:
        check_text(file.read(_HEAD), path)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _matcher(pattern: AnyPattern, *, ignore_case: bool, literal: bool) -> Match:
    """Whether a line matches. Raises `ValueError` for a pattern that is none, or that no line can match."""
    if not literal and pattern:
        return compiled(pattern, re.IGNORECASE if ignore_case else 0).search
    text = text_of(pattern, "pattern")
    if "\n" in text:
        raise ValueError(f"no line has the literal {text!r} in it: it is more than one line")
    if ignore_case:
        return re.compile(re.escape(text), re.IGNORECASE).search
    return lambda line: text in line or None


def _shown(pattern: AnyPattern) -> str:
    return pattern if isinstance(pattern, str) else pattern.pattern
