"""Read an artifact's text without ever holding a huge file: whole when small, by lines, or by a search."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

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
    try:
        matches = re.compile(pattern).search
    except re.error as error:
        raise ArtifactError(
            f"Not a regular expression: {pattern!r} ({error})", hint="Escape special characters with a backslash."
        ) from None
    found: list[str] = []
    seen: set[int] = set()
    for number, line in _numbered_lines(path, lines):
        if number not in seen and matches(line):
            if len(seen) < MATCH_LIMIT:
                found.append(f"{number}:{_clamped(line)}")
            seen = seen | {number}
    return "\n".join(found)


def _clamped(line: str) -> str:
    cut = len(line) - _MATCH_CHARS
    return line if cut <= 0 else f"{line[:_MATCH_CHARS]}[…{cut} characters cut…]"
