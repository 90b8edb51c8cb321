"""Read an artifact's text without ever holding a huge file: whole when small, by lines, or by a search."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from pisces.errors import ArtifactError
from pisces.output.notice import format_size

READ_LIMIT: Final = 8 * 1024 * 1024
"""The most that one read returns."""
MATCH_LIMIT: Final = 200
"""The most matching lines that one search returns."""
_MATCH_CHARS: Final = 1000
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
    size = path.stat().st_size
    if size > READ_LIMIT:
        raise ArtifactError(
            f"Artifact {artifact_id} is {format_size(size)}; one read returns at most {format_size(READ_LIMIT)}.",
            hint=f"Read it in parts (artifact://{artifact_id}:1-1000, then 1001-2000 …), or search in it.",
        )
    return path.read_text(encoding="utf-8", errors="replace")


def search_text(path: Path, artifact_id: str, pattern: str, lines: LineRange | None) -> str:
    """The matching lines as `<number>:<line>`, the first `MATCH_LIMIT` of them, and how many more there are."""
    found: list[str] = []
    count = 0
    for number, part in matching_lines(path, artifact_id, parse_pattern(pattern), lines):
        count += 1
        if count <= MATCH_LIMIT:
            found.append(f"{number}:{_clamped(part)}")
    if not count:
        return f"No line of artifact {artifact_id} matches {pattern!r}."
    if count > MATCH_LIMIT:
        found.append(f"[…{count - MATCH_LIMIT} more matching lines: narrow the search, or search in a range of lines…]")
    return "\n".join(found)


def parse_pattern(pattern: str) -> re.Pattern[str]:
    """Understand a regular expression. Raises `ArtifactError` for what is none."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ArtifactError(
            f"Not a regular expression: {pattern!r} ({error})", hint="Escape special characters with a backslash."
        ) from None


def matching_lines(
    path: Path, artifact_id: str, pattern: re.Pattern[str], lines: LineRange | None
) -> Iterator[tuple[int, str]]:
    """Each line that matches, once, with its number; of one longer than a block, the part that does."""
    last_match = 0
    for number, part in line_parts(path, artifact_id, lines):
        text = part.decode("utf-8", "replace").removesuffix("\n")
        if number != last_match and pattern.search(text):
            last_match = number
            yield number, text


def line_parts(path: Path, artifact_id: str, lines: LineRange | None) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, as its bytes; one that is longer than a block comes in several parts.

    Raises `ArtifactError` if the file ends before the first line that is wanted.
    """
    number, last = (lines.first, lines.last) if lines else (1, None)
    with path.open("rb") as file:
        _seek_line(file, artifact_id, number)
        while (last is None or number <= last) and (part := file.readline(_BLOCK)):
            yield number, part
            number += part.endswith(b"\n")


def _read_lines(path: Path, artifact_id: str, lines: LineRange) -> str:
    with path.open("rb") as file:
        _seek_line(file, artifact_id, lines.first)
        data, whole = _read_newlines(file, None if lines.last is None else lines.last - lines.first + 1)
    if whole:
        return data.decode("utf-8", "replace")
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


def _seek_line(file: BinaryIO, artifact_id: str, first: int) -> None:
    """Go to where a line begins. Raises `ArtifactError` if the file has fewer lines."""
    before, position, end = 0, 0, b"\n"
    while before < first - 1 and (block := file.read(_BLOCK)):
        newlines = block.count(b"\n")
        wanted = first - 1 - before
        position += _after_newline(block, wanted) if newlines >= wanted else len(block)
        before += min(newlines, wanted)
        end = block[-1:]
    file.seek(position)
    if before == first - 1 and (first == 1 or file.read(1)):
        file.seek(position)
        return
    total = before + (end != b"\n")
    raise ArtifactError(
        f"Artifact {artifact_id} has {total} lines; line {first} is past its end.",
        hint=f"Read up to artifact://{artifact_id}:{max(1, total - 99)}-{total}.",
    )


def _after_newline(block: bytes, count: int) -> int:
    """Where the line after that many newlines begins."""
    return len(block) - len(block.split(b"\n", count)[-1])


def _clamped(line: str) -> str:
    cut = len(line) - _MATCH_CHARS
    return line if cut <= 0 else f"{line[:_MATCH_CHARS]}[…{cut} characters cut…]"
