"""Read an artifact's text without ever holding a huge file: whole when small, or by lines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from pisces.errors import ArtifactError
from pisces.output.artifact_file import Section, open_artifact, state_of
from pisces.output.notice import format_size

READ_LIMIT: Final = 8 * 1024 * 1024
"""The most that one read returns."""
MISSING: Final = 0
"""In place of a line's number: the text is not of the output, but says what of it is missing."""
_TOO_LARGE: Final = "are missing: the output was too large to be kept whole"
_Note = Callable[[int, str], str]
"""Says what is missing from a line on, which is the last that was reached, and something more."""
_BLOCK: Final = 1024 * 1024


class LineRange(msgspec.Struct, frozen=True):
    """Lines counted from 1, both ends included; without `last`, up to the end."""

    first: int
    last: int | None = None

    def __post_init__(self) -> None:
        if self.first < 1 or (self.last is not None and self.last < self.first):
            raise ArtifactError(
                f"Not a range of lines: {self}", hint="Lines count from 1, and the last is not before the first."
            )

    def __str__(self) -> str:
        return f"{self.first}-{'' if self.last is None else self.last}"


def read_text(path: Path, artifact_id: str, lines: LineRange | None) -> str:
    """The whole text, or the lines asked for."""
    if lines is not None:
        return _read_lines(path, artifact_id, lines)
    size = state_of(path).size
    if size > READ_LIMIT:
        raise ArtifactError(
            f"Artifact {artifact_id} is {format_size(size)}; one read returns at most {format_size(READ_LIMIT)}.",
            hint=f"Read it in parts (artifact://{artifact_id}:1-1000, then 1001-2000 …), or search in it.",
        )
    return _read_lines(path, artifact_id, LineRange(first=1))


def line_parts(path: Path, artifact_id: str, lines: LineRange | None) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, as its bytes; one that is longer than a block comes in several parts.

    Where something is missing, a note says so in its place, as the number `MISSING`. Raises `ArtifactError` if the
    first line that is wanted is missing, or past the end.
    """
    number, last = (lines.first, lines.last) if lines else (1, None)
    part = b""
    with open_artifact(path) as sections:
        for section, note in _from_line(sections, artifact_id, number):
            if note:
                yield MISSING, (b"\n" if part and not part.endswith(b"\n") else b"") + note(number, "").encode() + b"\n"
                number = section.line
            while (last is None or number <= last) and (part := section.file.readline(_BLOCK)):
                yield number, part
                number += part.endswith(b"\n")
            if last is not None and number > last:
                return


def _read_lines(path: Path, artifact_id: str, lines: LineRange) -> str:
    """Read up to a gap, and put a note there, so that the lines of the text can be counted."""
    with open_artifact(path) as sections:
        (section, note), *after = _from_line(sections, artifact_id, lines.first)
        count = None if lines.last is None else lines.last - lines.first + 1
        data, whole = _read_newlines(section.file, count)
    if not whole:
        return _stopped(data, path, artifact_id, lines)
    text = data.decode("utf-8", "replace")
    if note:
        text = f"{note(lines.first, '')}{text}"  # On the same line, so that it does not count as one.
    following = lines.first + data.count(b"\n")
    for section, missing in after:
        if missing and (lines.last is None or lines.last >= following):
            go_on = LineRange(section.line + section.cut)
            newline = "\n" if text and not text.endswith("\n") else ""
            text += f"{newline}{missing(following, f'; go on with artifact://{artifact_id}:{go_on}')}\n"
    return text


def _stopped(data: bytes, path: Path, artifact_id: str, lines: LineRange) -> str:
    """The whole lines of what was read, and how to go on."""
    complete = data.rfind(b"\n") + 1
    limit = format_size(READ_LIMIT)
    if complete == 0:
        return (
            data.decode("utf-8", "ignore")
            + f"\n[…line {lines.first} is longer than {limit}: search in it, or open the file {path}…]"
        )
    go_on = LineRange(first=lines.first + data.count(b"\n"), last=lines.last)
    return (
        data[:complete].decode("utf-8", "replace")
        + f"[…stopped after {limit}: go on with artifact://{artifact_id}:{go_on}…]"
    )


def _read_newlines(file: BinaryIO, count: int | None) -> tuple[bytes, bool]:
    """Read up to that many newlines, or to the end; False if it had to stop at `READ_LIMIT`."""
    blocks: list[bytes] = []
    room = READ_LIMIT
    while block := file.read(min(_BLOCK, room)):
        newlines = block.count(b"\n")
        if count is not None and newlines >= count:
            blocks.append(block[: _after_newline(block, count)])
            return b"".join(blocks), True
        if count is not None:
            count -= newlines
        blocks.append(block)
        room -= len(block)
    return b"".join(blocks), room > 0 or not file.read(1)


def _from_line(sections: list[Section], artifact_id: str, first: int) -> Iterator[tuple[Section, _Note | None]]:
    """Yield the sections from the one that has this line, at which its file then stands.

    A section after a gap comes with a function that makes the note about the gap. Raises `ArtifactError` if the line is
    missing, or past the end.
    """
    end = sections[-1]
    if first > end.line or (first == end.line and not end.cut):
        found, lines, _ = _seek_line(end.file, first - end.line + 1)
        if not found:
            raise _past_end(artifact_id, first, end.line - 1 + lines)
        yield end, None
        return
    found, lines, newlines = _seek_line(sections[0].file, first)
    if found:
        yield sections[0], None
    elif end is sections[0]:
        raise _past_end(artifact_id, first, lines)
    elif first != end.line:
        raise _missing(artifact_id, newlines + 1, end)
    if end is not sections[0]:
        yield end, lambda line, more: f"[…{end.missing_from(line)} {_TOO_LARGE}{more}…]"


def _seek_line(file: BinaryIO, first: int) -> tuple[bool, int, int]:
    """Go to where a line begins. Whether the file has it; if not, how many lines and newlines it has."""
    before, position, end = 0, 0, b"\n"
    while before < first - 1 and (block := file.read(_BLOCK)):
        newlines = block.count(b"\n")
        wanted = first - 1 - before
        position += _after_newline(block, wanted) if newlines >= wanted else len(block)
        before += min(newlines, wanted)
        end = block[-1:]
    file.seek(position)
    found = before == first - 1 and (first == 1 or file.read(1) != b"")
    file.seek(position)
    return found, before + (end != b"\n"), before


def _past_end(artifact_id: str, line: int, total: int) -> ArtifactError:
    return ArtifactError(
        f"Artifact {artifact_id} has {total} lines; line {line} is past its end.",
        hint=f"Read up to artifact://{artifact_id}:{max(1, total - 99)}-{total}.",
    )


def _missing(artifact_id: str, line: int, end: Section) -> ArtifactError:
    after = f"from artifact://{artifact_id}:{end.line + end.cut}-."
    before = f"up to artifact://{artifact_id}:{max(1, line - 100)}-{line - 1}, or " if line > 1 else ""
    return ArtifactError(
        f"Artifact {artifact_id} was too large to be kept whole: {end.missing_from(line)} are missing.",
        hint=f"Read {before}{after}",
    )


def _after_newline(block: bytes, count: int) -> int:
    """Where the line after that many newlines begins."""
    return len(block) - len(block.split(b"\n", count)[-1])
