"""Replace a text that must match exactly. Bytes outside the match stay what they are, whatever they are."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from pisces.errors import FileError
from pisces.files.encoding import Encoding, encoding_of
from pisces.files.line_window import Limits, Window
from pisces.files.nearest import why_not_found
from pisces.files.selector import Selection, joined
from pisces.files.text import numbered_lines
from pisces.output.artifact_text import LineRange
from pisces.output.notice import format_size

MAX_TEXT: Final = 64 * 1024 * 1024
"""The largest text that is searched."""
_MAX_RESULT: Final = 256 * 1024 * 1024
_NAMED: Final = 10
"""How many places are named."""
_CONTEXT: Final = 2
_SHOWN: Final = Limits(max_bytes=8192, max_lines=60)
_LONE_LF: Final = re.compile(r"(?<!\r)\n")


class Edited(msgspec.Struct, frozen=True):
    """A text after a replacement."""

    data: bytes
    count: int
    spans: tuple[LineRange, ...]
    """The lines, in the new text, that came in; of the first ten places."""
    excerpt: str
    """Those lines with two around each, numbered."""
    shown: tuple[LineRange, ...]
    """The lines of the new text that the excerpt shows whole."""
    old_lines: LineRange
    """The lines of the old text from the first match to the last."""
    new_lines: LineRange
    """The lines of the new text that are in their place."""

    def carried(self, known: Iterable[LineRange]) -> tuple[LineRange, ...]:
        """The lines of the new text that somebody knows who knew these lines of the old one, and reads the excerpt."""
        old, new = self.old_lines, self.new_lines
        assert old.last is not None
        assert new.last is not None
        moved: list[LineRange] = list(self.shown)
        for span in joined(known):
            if span.first < old.first:
                moved.append(
                    LineRange(span.first, old.first - 1 if span.last is None else min(span.last, old.first - 1))
                )
            if span.first <= old.first and (span.last is None or span.last >= old.last):
                moved.append(new)
            if span.last is None:
                moved.append(LineRange(max(span.first, old.last + 1) + new.last - old.last))
            elif span.last > old.last:
                shift = new.last - old.last
                moved.append(LineRange(max(span.first, old.last + 1) + shift, span.last + shift))
        return joined(moved)


def replaced(data: bytes, name: str, old: str, new: str, *, every: bool) -> Edited:
    """The text with the one match replaced, or with every match.

    A file whose lines all end in CRLF keeps that: line ends in `old` and `new` are then taken for CRLF. Raises
    `FileError`, with what to do, when there is no match, or more than one and not `every`.
    """
    if len(data) > MAX_TEXT:
        raise FileError(
            f"{name} is {format_size(len(data))}; texts up to {format_size(MAX_TEXT)} can be edited.",
            hint="Change it with Python, or with a program that works on streams.",
        )
    encoding = encoding_of(data)
    body = _to_utf8(data, encoding, name)
    needle, replacement = _as_in(body, old, new)
    first = body.find(needle)
    if first < 0:
        why = why_not_found(body.decode("utf-8", "replace"), old)
        raise FileError(f"The old text was not found in {name}; nothing was changed.", hint=why)
    count = body.count(needle)
    if not every:
        _check_single(body, needle, first, count, name)
        count = 1
    _check_size(len(body) + count * (len(replacement) - len(needle)), name)
    result = body.replace(needle, replacement)
    changed = _from_utf8(result, encoding)
    spans = _spans(body, needle, replacement, result)
    excerpt = _excerpt(changed, encoding, spans)
    old_lines, new_lines = _replaced_lines(body, needle, replacement, result, first, every=every)
    return Edited(changed, count, spans, excerpt.text, excerpt.whole, old_lines, new_lines)


def _replaced_lines(
    body: bytes, needle: bytes, replacement: bytes, result: bytes, first: int, *, every: bool
) -> tuple[LineRange, LineRange]:
    """The lines from the first match to the last, and those that took their place. The others are what they were."""
    begin = body.count(b"\n", 0, first) + 1
    end = (body.rfind(needle) if every else first) + len(needle)
    # Where both texts end in a newline, the line after the last match is what it was, too.
    after = body.count(b"\n", end) + (needle.endswith(b"\n") and replacement.endswith(b"\n"))
    old_last, new_last = (text.count(b"\n") + 1 - after for text in (body, result))
    return LineRange(begin, old_last), LineRange(begin, new_last)


def _as_in(body: bytes, old: str, new: str) -> tuple[bytes, bytes]:
    """Both texts in bytes, with the line ends of the file."""
    plain = old.encode("utf-8"), new.encode("utf-8")
    pairs = body.count(b"\r\n")
    if pairs and (pairs == body.count(b"\n") or plain[0] not in body):
        return _LONE_LF.sub("\r\n", old).encode("utf-8"), _LONE_LF.sub("\r\n", new).encode("utf-8")
    return plain


def _check_single(body: bytes, needle: bytes, first: int, count: int, name: str) -> None:
    second = body.find(needle, first + 1)  # Not after its end: matches that overlap are two places as well.
    if second < 0:
        return
    lines: list[int] = []
    number, seen, position = 1, 0, first
    while position >= 0 and len(lines) < _NAMED:
        number += body.count(b"\n", seen, position)
        lines.append(number)
        seen, position = position, body.find(needle, position + 1)
    more = " …" if position >= 0 else ""
    places = ", ".join(str(line) for line in dict.fromkeys(lines))
    raise FileError(
        f"The old text is in {name} {max(count, 2)} times (lines {places}{more}); nothing was changed.",
        hint="Add what stands around it, so that only one place matches, or set all: true to replace every one.",
    )


def _check_size(size: int, name: str) -> None:
    if size > _MAX_RESULT:
        raise FileError(
            f"{name} would become {format_size(size)}; nothing was changed.",
            hint=f"An edit may lead to at most {format_size(_MAX_RESULT)}: write the file with Python.",
        )


def _spans(body: bytes, needle: bytes, replacement: bytes, result: bytes) -> tuple[LineRange, ...]:
    total = max(1, result.count(b"\n") + (not result.endswith(b"\n")))
    came = replacement.count(b"\n")
    height = max(0, came - replacement.endswith(b"\n"))
    found: list[LineRange] = []
    number, seen, position = 1, 0, body.find(needle)
    while position >= 0 and len(found) < _NAMED:
        number += body.count(b"\n", seen, position)
        first = min(number, total)
        found.append(LineRange(first, min(first + height, total)))
        seen = position + len(needle)
        number += came
        position = body.find(needle, seen) if needle else -1  # An empty text has the one place for an empty match.
    return tuple(found)


def _excerpt(data: bytes, encoding: Encoding, spans: tuple[LineRange, ...]) -> Window:
    around = joined(LineRange(max(1, span.first - _CONTEXT), (span.last or span.first) + _CONTEXT) for span in spans)
    return numbered_lines(data, encoding, Selection(lines=around), _SHOWN)


def _to_utf8(data: bytes, encoding: Encoding, name: str) -> bytes:
    body = data[len(encoding.bom) :]
    if encoding.unit == 1:
        return body
    try:
        return body.decode(encoding.name, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise FileError(
            f"{name} says that it is {encoding.name.upper()}, but not all of it is; nothing was changed.",
            hint="Change it with Python.",
        ) from None


def _from_utf8(body: bytes, encoding: Encoding) -> bytes:
    if encoding.unit == 1:
        return encoding.bom + body
    return encoding.bom + body.decode("utf-8", "surrogatepass").encode(encoding.name, "surrogatepass")
