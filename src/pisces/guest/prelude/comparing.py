"""What differs between two files, as `diff -u` says it."""

from __future__ import annotations

from .arguments import located, named
from .shortest_edit import changes
from .status import cut, tell
from .text_files import decoded, split_lines
from .whole_files import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .arguments import AnyPath
    from .shortest_edit import Change

_PREVIEW = 500
_CONTEXT = 3
_UNENDED = "\n\\ No newline at end of file\n"
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r"}


def diff(a: AnyPath, b: AnyPath) -> str:
    """As `diff -u` has it, without dates, so that `patch` takes it; of binary files only that they differ."""
    first, second = _content(a), _content(b)
    if first == second:
        text = ""
    elif b"\0" in first or b"\0" in second:
        text = f"Binary files {named(a)} and {named(b)} differ\n"
    else:
        old, new = split_lines(decoded(first, located(a))), split_lines(decoded(second, located(b)))
        text = f"--- {_quoted(named(a))}\n+++ {_quoted(named(b))}\n" + "".join(_hunks(old, new))
    tell(file_a=named(a), file_b=named(b), identical=first == second, preview=cut(text, _PREVIEW))
    return text


def _content(path: AnyPath) -> bytes:
    with open_plain(located(path)) as file:
        return file.read()


def _quoted(name: str) -> str:
    """A name as `patch` can read it: with a space in it, or what is not plain ASCII, it is quoted."""
    if all("!" <= char < "\x7f" and char not in '"\\' for char in name):
        return name
    return f'"{"".join(_escaped(char) for char in name)}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if " " <= char < "\x7f":
        return char
    return _ESCAPES.get(char) or "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for group in _grouped(changes(old, new)):
        first, last = group[0], group[-1]
        before = min(_CONTEXT, first.old_start)
        after = min(_CONTEXT, len(old) - last.old_end)
        start, end = first.old_start - before, last.old_end + after
        yield f"@@ -{_range(start, end)} +{_range(first.new_start - before, last.new_end + after)} @@\n"
        at = start
        for change in group:
            yield from _marked(" ", old[at : change.old_start])
            yield from _marked("-", old[change.old_start : change.old_end])
            yield from _marked("+", new[change.new_start : change.new_end])
            at = change.old_end
        yield from _marked(" ", old[at:end])


def _grouped(found: Iterable[Change]) -> Iterator[list[Change]]:
    """Changes whose surroundings touch are told in one piece."""
    group: list[Change] = []
    for change in found:
        if group and change.old_start - group[-1].old_end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _marked(mark: str, found: list[str]) -> Iterator[str]:
    for line in found:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}{_UNENDED}"


def _range(start: int, end: int) -> str:
    """Lines counted from 1; of none, the one before."""
    size = end - start
    return f"{start + 1}" if size == 1 else f"{start if size == 0 else start + 1},{size}"
