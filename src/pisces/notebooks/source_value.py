"""The source of a cell as JSON has it: one string or a list of lines, and a new one that keeps the lines that stay.

A file may split and escape its lines in ways that Jupyter would not. An edit must not lay out anew what it did not
touch, so elements whose text stays are carried over byte by byte, and only those between them are made.
"""

from typing import Any, Final

from pisces.errors import BadCell
from pisces.notebooks.json_spans import Span, elements, value_of
from pisces.notebooks.style import Style, is_escaped

_LIST: Final = b"["
Element = tuple[bytes, str]
"""One element of a list of lines: its bytes and its text."""


def text_of(source: Any) -> str:
    """A source in one piece. Raises `BadCell` for what is none."""
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise BadCell("a cell whose source is neither text nor a list of lines")


def encode_source(old: bytes, text: str, style: Style, margin: str) -> bytes:
    """The JSON of a new source in place of an old one. `margin` is what the line of the member is indented by."""
    ascii_only = is_escaped(old) or (style.ascii and old.isascii())
    if text_of(value_of(old)) == text:
        return old
    if not old.startswith(_LIST):
        return style.encode(text, ascii_only=ascii_only)
    if not text:
        return b"[]"
    spans = elements(old)
    kept = [(old[span.start : span.end], value_of(old[span.start : span.end])) for span in spans]
    head, tail, middle = _what_stays(kept, text)
    made = [style.encode(line, ascii_only=ascii_only) for line in middle.splitlines(keepends=True)]
    lead, gap, end = _layout(old, spans, style, margin)
    return _LIST + lead + gap.join([*(raw for raw, _ in head), *made, *(raw for raw, _ in tail)]) + end + b"]"


def _what_stays(kept: list[Element], text: str) -> tuple[list[Element], list[Element], str]:
    """The elements that the new text begins with, those that it ends with, and what is between them.

    Only whole lines stay: what comes before or after part of a line must be put together with it.
    """
    head = start = at = 0
    for number, (_, line) in enumerate(kept, 1):
        if not text.startswith(line, at):
            break
        at += len(line)
        if line.endswith("\n"):
            head, start = number, at
    tail, end = len(kept), len(text)
    at = end
    for number in range(len(kept) - 1, head - 1, -1):
        line = kept[number][1]
        at -= len(line)
        if at < start or not text.startswith(line, at):
            break
        if at == 0 or text[at - 1] == "\n":
            tail, end = number, at
    return kept[:head], kept[tail:], text[start:end]


def _layout(old: bytes, spans: list[Span], style: Style, margin: str) -> tuple[bytes, bytes, bytes]:
    """What stands before the first element, between two, and after the last."""
    if not spans:
        inner = style.line(style.deeper(margin)).encode()
        gap = b"," + inner if style.indent is not None else style.comma.encode()
        return inner, gap, style.line(margin).encode()
    lead, end = old[1 : spans[0].start], old[spans[-1].end : -1]
    if len(spans) > 1:
        return lead, old[spans[0].end : spans[1].start], end
    return lead, b"," + lead if b"\n" in lead else style.comma.encode(), end
