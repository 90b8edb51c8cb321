"""Read a text within bounds, and say what is shown of it: line numbers, wanted lines, and the way to the rest."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import FileError
from pisces.files.encoding import HEAD, Encoding, binary_kind, encoding_of, picture_kind, utf8_blocks
from pisces.files.failures import explained
from pisces.files.line_window import Limits, Window, window
from pisces.files.plain_file import open_plain
from pisces.files.selector import Selection, written
from pisces.files.version import FileVersion
from pisces.output.notice import format_size

EMPTY: Final = "(empty file)"
_BLOCK: Final = 1024 * 1024


class TextPart(msgspec.Struct, frozen=True):
    """Some lines of a text, ready to be shown."""

    text: str
    """With the notice, where there is one."""
    window: Window
    encoding: Encoding = Encoding("utf-8")
    notice: str = ""
    """The line in brackets below the text, by itself."""


def first_bytes(path: Path) -> tuple[bytes, int]:
    """As much of a file as its kind shows in, and the size of all of it. Raises as `read_whole` does."""
    with explained(path, "read"):
        descriptor = open_plain(path)
        try:
            return os.read(descriptor, HEAD), os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)


def read_part(path: Path, name: str, selection: Selection, limits: Limits) -> tuple[TextPart, FileVersion]:
    """The wanted lines of a file of text, and which version of it they are of. Its size does not matter.

    `name` is what the reader calls it. Raises `FileError` for what is no text, and for lines past its end.
    """
    with explained(path, "read"):
        descriptor = open_plain(path)
        try:
            version = FileVersion.of(os.fstat(descriptor))
            head = os.pread(descriptor, HEAD, 0)
            _check_text(head, name, version.size)
            encoding = encoding_of(head)
            return _part(utf8_blocks(_blocks(descriptor), encoding), name, selection, limits, encoding), version
        finally:
            os.close(descriptor)


def part_of(text: str, name: str, selection: Selection, limits: Limits) -> TextPart:
    """The wanted lines of a text that is not a file by itself, exactly as they are, without numbers."""
    made = _window([text.encode("utf-8", "replace")], name, selection, limits, numbered=False)
    gap, notice = _notice(made, name, selection, limits, numbered=False)
    return TextPart(made.text + gap + notice, made, notice=notice)


def numbered_lines(data: bytes, encoding: Encoding, selection: Selection, limits: Limits) -> Window:
    """Some lines of a text in memory with their numbers, without a notice."""
    return window(utf8_blocks([data], encoding), selection.lines, limits, numbered=True)


def _part(blocks: Iterable[bytes], name: str, selection: Selection, limits: Limits, encoding: Encoding) -> TextPart:
    made = _window(blocks, name, selection, limits, numbered=not selection.raw)
    if not made.total_bytes:
        shown = "" if selection.raw else EMPTY
        return TextPart(shown, made, encoding, notice=shown)
    facts = () if selection.raw else _facts(made, encoding)
    gap, notice = _notice(made, name, selection, limits, numbered=not selection.raw, facts=facts)
    return TextPart(made.text + gap + notice, made, encoding, notice)


def _window(blocks: Iterable[bytes], name: str, selection: Selection, limits: Limits, *, numbered: bool) -> Window:
    made = window(blocks, selection.lines, limits, numbered=numbered)
    if made.total_bytes and not made.shown:
        raise FileError(
            f"{name} has {_counted(made.total_lines)}; line {selection.lines[0].first} is past its end.",
            hint=f"Read up to {name}:{max(1, made.total_lines - 99)}-{made.total_lines}.",
        )
    return made


def _notice(
    made: Window, name: str, selection: Selection, limits: Limits, *, numbered: bool, facts: Iterable[str] = ()
) -> tuple[str, str]:
    """What is shown of how much, how to go on, and what else is to be known: in brackets, after a blank line.

    The line ends before it, and the line itself.
    """
    sentences: list[str] = []
    if made.full or made.clamped or (numbered and selection.lines):
        sentences.append(_shown(made, limits))
    if made.full:
        rest = selection.after(made.shown[-1].last or 0)
        sentences.append(f"Go on with: read {name}:{rest}")
    sentences += facts
    if not sentences:
        return "", ""
    return "\n" if made.text.endswith("\n") else "\n\n", f"[{'. '.join(sentences)}]"


def _shown(made: Window, limits: Limits) -> str:
    spans = " and ".join(written(span) for span in made.shown)
    word = "line" if spans.isdecimal() else "lines"
    limit = ""
    if made.full:
        by_lines = sum((span.last or 0) - span.first + 1 for span in made.shown) >= limits.max_lines
        limit = f" ({limits.max_lines} lines limit)" if by_lines else f" ({format_size(limits.max_bytes)} limit)"
    clamped = ", with long lines cut" if made.clamped else ""
    return f"Showing {word} {spans} of {made.total_lines}{limit}{clamped}"


def _facts(made: Window, encoding: Encoding) -> Iterator[str]:
    if encoding.bom:
        yield f"The file begins with a byte order mark ({encoding.name.upper()})"
    if made.crlf:
        yield "Lines end in CRLF" if not made.bare else "Some lines end in CRLF, others in LF"
    if made.invalid:
        yield "Bytes that are no UTF-8 are shown as \N{REPLACEMENT CHARACTER}"


def _check_text(head: bytes, name: str, size: int) -> None:
    kind = binary_kind(head)
    if kind is None:
        return
    hint = "Read it without a selector." if picture_kind(head) else "Open it with Python."
    raise FileError(f"{name} is not text: {kind}, {format_size(size)}.", hint=hint)


def _blocks(descriptor: int) -> Iterator[bytes]:
    while block := os.read(descriptor, _BLOCK):
        yield block


def _counted(lines: int) -> str:
    return f"{lines} line" if lines == 1 else f"{lines} lines"
