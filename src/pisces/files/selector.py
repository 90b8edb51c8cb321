"""What a path can say about how much of its file is wanted: `notes.txt:10-20`, `data.json:raw`."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from pisces.errors import FileError
from pisces.output.artifact_text import LineRange

_ALLOWED: Final = "Allowed: path:N, path:N-M, path:N+K (K lines from N), path:N-, several with commas, and path:raw."
_RANGE: Final = re.compile(r"([0-9]{1,18})(?:(-)([0-9]{1,18})?|(\+)([0-9]{1,18}))?")
_SELECTOR: Final = re.compile(
    r"(?P<path>.+?):(?:(?P<raw>raw)(?::(?P<of_raw>[^:/]*))?|(?P<ranges>[0-9][0-9,+ -]*))", re.DOTALL
)


class Selection(msgspec.Struct, frozen=True):
    """How much of a file is wanted, and in which form."""

    raw: bool = False
    """As it is: no line numbers, and of a notebook its JSON."""
    lines: tuple[LineRange, ...] = ()
    """Ascending, without overlaps; none for all."""

    def __str__(self) -> str:
        spans = ",".join(written(span) for span in self.lines)
        return ":".join(part for part in ("raw" if self.raw else "", spans) if part)

    def after(self, line: int) -> "Selection":
        """What of it comes after a line."""
        rest = [
            LineRange(max(span.first, line + 1), span.last)
            for span in self.lines or (LineRange(1),)
            if span.last is None or span.last > line
        ]
        return Selection(raw=self.raw, lines=tuple(rest))


def split_selector(text: str, exists: Callable[[str], bool]) -> tuple[str, Selection]:
    """The path and the selection of `path:selector`. A text that names something that is there is just that.

    Raises `FileError` for a selector that cannot be understood.
    """
    if ":" not in text or exists(text):
        return text, Selection()
    path, _, rest = text.rpartition(":")
    if path and exists(path):
        return path, Selection(raw=True) if rest == "raw" else Selection(lines=parse_ranges(rest))
    match = _SELECTOR.fullmatch(text)
    if match is None:
        return text, Selection()
    spans = match["of_raw"] if match["raw"] else match["ranges"]
    return match["path"], Selection(raw=bool(match["raw"]), lines=() if spans is None else parse_ranges(spans))


def parse_ranges(text: str) -> tuple[LineRange, ...]:
    """The ranges of `1-3,7,10+5`, ascending, with those joined that meet. Raises `FileError`."""
    return joined(_range(part.strip(), text) for part in text.split(","))


def joined(spans: Iterable[LineRange]) -> tuple[LineRange, ...]:
    """The same lines in as few ranges as can be, ascending."""
    result: list[LineRange] = []
    for span in sorted(spans, key=lambda span: span.first):
        previous = result[-1] if result else None
        if previous is None or (previous.last is not None and span.first > previous.last + 1):
            result.append(span)
        elif previous.last is not None and (span.last is None or span.last > previous.last):
            result[-1] = LineRange(previous.first, span.last)
    return tuple(result)


def missing_from(known: Sequence[LineRange], wanted: LineRange) -> list[LineRange]:
    """The lines of a range with an end that are in none of these, which are ascending and without overlaps."""
    assert wanted.last is not None
    missing, first = [], wanted.first
    for span in known:
        if span.first > wanted.last:
            break
        if span.first > first:
            missing.append(LineRange(first, span.first - 1))
        if span.last is None:
            return missing
        first = max(first, span.last + 1)
    if first <= wanted.last:
        missing.append(LineRange(first, wanted.last))
    return missing


def _range(part: str, whole: str) -> LineRange:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise _bad(whole)
    first = int(match[1])
    last: int | None = first
    if match[2]:
        last = int(match[3]) if match[3] else None
    elif match[4]:
        last = first + int(match[5]) - 1
    if first < 1:
        raise _bad(whole, " (lines count from 1)")
    if last is not None and last < first:
        raise _bad(whole, f" ({part} has no line in it)")
    return LineRange(first, last)


def written(span: LineRange) -> str:
    """A range as a reader writes it: one line by its number alone."""
    return str(span.first) if span.last == span.first else str(span)


def _bad(selector: str, why: str = "") -> FileError:
    return FileError(f"Not a selection of lines: {selector[:100]!r}{why}", hint=_ALLOWED)
