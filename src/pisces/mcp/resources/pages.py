"""A long text in pages that a reader can hold: where each begins is a number of bytes."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from pisces.errors import InvalidCall
from pisces.output.artifact_file import open_artifact
from pisces.output.artifact_text import LineRange, line_parts


class Page(msgspec.Struct, frozen=True):
    """Some of a text."""

    data: bytes
    start: int
    more: bool
    """Whether there is anything after it."""
    missing_to: int | None = None
    """If bytes after it were not kept, where those that come next begin."""

    @property
    def whole(self) -> bool:
        """Whether this is all of the text."""
        return self.start == 0 and not self.more

    def text(self, following: Callable[[int], str], besides: str = "") -> str:
        """The page; under it the address of the next one, made by `following`, and what else can be done."""
        shown = self.data.decode("utf-8", "replace")
        if not self.more:
            return shown
        end = after = self.start + len(self.data)
        missing = ""
        if self.missing_to is not None:
            after = self.missing_to
            missing = f"; bytes {end} to {after} are missing: the output was too large to be kept whole"
        newline = "" if shown.endswith("\n") else "\n"
        return f"{shown}{newline}[…bytes {self.start} to {end}{missing}; go on with {following(after)}{besides}…]"


def page_of_data(data: bytes, start: int, most: int) -> Page:
    """A page of what is in memory. Raises `InvalidCall` when it would begin past the end."""
    _check(start, len(data))
    return _page(data[start : start + most + 1], start, most)


def page_of_file(path: Path, start: int, most: int) -> Page:
    """A page of an artifact, of which no more is read. Raises `InvalidCall` when it would begin in what is missing."""
    with open_artifact(path) as sections:
        section, *after = [part for part in sections if start < part.byte + part.size] or sections[-1:]
        _check(start, section.byte + section.size)
        if start < section.byte:
            raise InvalidCall(
                f"Bytes up to {section.byte} are missing: the output was too large to be kept whole.",
                hint=f"Go on with `from={section.byte}`.",
            )
        section.file.seek(start - section.byte)
        page = _page(section.file.read(most + 1), start, most)
        if page.more or not after:
            return page
        return msgspec.structs.replace(page, more=True, missing_to=after[0].byte)


def page_of_lines(path: Path, number: str, lines: LineRange, start: int, most: int) -> Page:
    """A page of some lines of an artifact; `start` counts from the first of them. Raises `ArtifactError`."""
    parts = (part for _, part in line_parts(path, number, lines))
    taken, passed = _take(parts, start, most + 1)
    _check(start, passed)
    return _page(taken, start, most)


def _take(parts: Iterable[bytes], start: int, most: int) -> tuple[bytes, int]:
    """So many bytes after the first `start`, and how many bytes there were up to there."""
    taken = bytearray()
    passed = 0
    for part in parts:
        taken += part[max(0, start - passed) :][: most - len(taken)]
        passed += len(part)
        if len(taken) >= most:
            break
    return bytes(taken), passed


def _page(data: bytes, start: int, most: int) -> Page:
    if len(data) <= most:
        return Page(data, start, more=False)
    end = data.rfind(b"\n", 0, most) + 1
    return Page(data[: end or _character_end(data, most)], start, more=True)


def _character_end(data: bytes, most: int) -> int:
    """Where to cut a line so that no character is cut."""
    end = most
    while most - end < 4 and data[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _check(start: int, size: int) -> None:
    if start > size:
        raise InvalidCall(f"There are {size} bytes; `from={start}` is past their end.")
