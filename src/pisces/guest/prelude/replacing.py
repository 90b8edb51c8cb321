"""Texts and matches of regular expressions, replaced in one file or in all files below a folder.

In a regular expression `^` and `$` mean each line. A file whose lines all end in CRLF keeps that: a line feed in what
is looked for and in what it is replaced by is then taken for CRLF, unless there is a carriage return in one of them.
"""

from __future__ import annotations

import re

from .arguments import compiled, located, named, text_of
from .status import tell
from .text_files import TextFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .arguments import AnyPath

    Edit = Callable[[str], "tuple[str, int]"]

_CHANGED = 10
_NAMED = 5
_LONE_LF = re.compile(r"(?<!\r)\n")


def replace(path: AnyPath, pattern: str, repl: str, *, regex: bool) -> int:
    """Replace a text, or what a regular expression matches, in one file."""
    tell(path=named(path))
    return _told(path, _by_match(pattern, repl, 0) if regex else _by_text(pattern, repl))


def sed(path: AnyPath, pattern: str, repl: str, *, flags: int) -> int:
    """Replace what a regular expression matches, in one file."""
    tell(path=named(path))
    return _told(path, _by_match(pattern, repl, flags))


def rsed(pattern: str, repl: str, path: AnyPath, *, glob_pattern: str, flags: int, hidden: bool) -> int:
    """Replace in all files that are text. Links are not followed: what they lead to is met by itself, or elsewhere.

    If some cannot be read or written, all others are done, and then it raises `OSError`.
    """
    tell(path=named(path))
    edit = _by_match(pattern, repl, flags)
    changed: list[tuple[Path, int]] = []
    failures: list[str] = []
    try:
        for file in _files(path, glob_pattern, hidden):
            try:
                count = _in_text(file, edit)
            except OSError as error:
                failures.append(str(error))
            else:
                if count:
                    changed.append((file, count))
    finally:  # Also what was done before an interrupt is told.
        total = sum(count for _, count in changed)
        first = [{"file": str(file), "count": count} for file, count in changed[:_CHANGED]]
        tell(count=total, files=len(changed), changed=first)
    if failures:
        more = f" and {len(failures) - _NAMED} more" if len(failures) > _NAMED else ""
        done = f"{total} replacements were made in {len(changed)} files"
        raise OSError(f"{named(path)}: {done}, but not in {'; '.join(failures[:_NAMED])}{more}")
    return total


def _told(path: AnyPath, edit: Edit) -> int:
    count = _edited(TextFile(located(path)), edit)
    tell(count=count)
    return count


def _edited(file: TextFile, edit: Edit) -> int:
    text, count = edit(file.text)
    file.save(text)
    return count


def _in_text(path: Path, edit: Edit) -> int:
    try:
        file = TextFile(path)
    except (ValueError, FileNotFoundError):  # It is no text, or it went away meanwhile.
        return 0
    return _edited(file, edit)


def _files(path: AnyPath, glob_pattern: str, hidden: bool) -> Iterator[Path]:
    from .search import walk

    start = located(path)
    if start.is_file():
        yield start
        return
    yield from (file for file in walk(path, glob_pattern=glob_pattern, hidden=hidden) if not file.is_symlink())


def _by_text(pattern: str, repl: str) -> Edit:
    if not text_of(pattern, "the pattern"):
        raise ValueError("the pattern is empty")
    text_of(repl, "repl")

    def edit(text: str) -> tuple[str, int]:
        old, new = pattern, repl
        if _ends_in_crlf(text) or ("\r\n" in text and old not in text):
            old, new = _LONE_LF.sub("\r\n", old), _LONE_LF.sub("\r\n", new)
        return text.replace(old, new), text.count(old)

    return edit


def _by_match(pattern: str, repl: str, flags: int) -> Edit:
    wanted = compiled(pattern, flags)
    if not callable(repl):
        _check_template(wanted, text_of(repl, "repl"))
    exact = any("\r" in given or "\\r" in given for given in (wanted.pattern, repl) if isinstance(given, str))

    def edit(text: str) -> tuple[str, int]:
        if exact or not _ends_in_crlf(text):
            return wanted.subn(repl, text)
        new, count = wanted.subn(repl, text.replace("\r\n", "\n"))
        return new.replace("\n", "\r\n"), count

    return edit


def _check_template(wanted: re.Pattern[str], repl: str) -> None:
    """Raises `ValueError` for a replacement that names a group that is not there, or has an unknown escape."""
    try:
        wanted.sub(repl, "")
    except (re.error, IndexError) as error:
        raise ValueError(f"{repl!r} cannot replace {wanted.pattern!r}: {error}") from None


def _ends_in_crlf(text: str) -> bool:
    pairs = text.count("\r\n")
    return pairs > 0 and pairs == text.count("\n")
