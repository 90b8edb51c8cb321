"""Text in files, exactly as it is there: UTF-8, lines end at a line feed alone, and nothing is translated."""

from __future__ import annotations

import codecs
import itertools
import os
import sys

from .arguments import storable
from .whole_files import open_plain, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_MARK = "\ufeff"
_BLOCK = 1024 * 1024
_HEAD = 8192
"""How much of a file is looked at before a part of it is taken for text."""


class TextFile:
    """A whole text to be changed. The mark at the beginning of some (BOM) is no part of it, and stays.

    Raises `OSError`, and `ValueError` for what is no text.
    """

    def __init__(self, path: Path) -> None:
        with open_plain(path) as file:
            text = decoded(file.read(), path)
        self.path = path
        self.text = text.removeprefix(_MARK)
        self._mark = text[: len(text) - len(self.text)]

    def save(self, text: str) -> None:
        """Write it in one step, if it is another."""
        if text != self.text:
            write_whole(self.path, storable(self._mark + text, self.path))


def some_lines(path: Path, first: int, count: int | None) -> str:
    """Lines of a file, from one on; those before and after are not held in memory. Raises as `TextFile` does."""
    with open_plain(path) as file:
        if first > 1 or count is not None:
            check_text(file.read(_HEAD), path)
            file.seek(0)
        data = _lines(file, first, count)
    text = decoded(data, path)
    return text.removeprefix(_MARK) if first == 1 else text


def some_bytes(path: Path, first: int, count: int | None) -> bytes:
    """The same of a file that need not be text."""
    with open_plain(path) as file:
        return _lines(file, first, count)


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; the last may have none."""
    *ended, last = text.split("\n")
    lines = [f"{line}\n" for line in ended]
    return [*lines, last] if last else lines


def lines_within(text: str, first: int, count: int | None) -> str:
    """Lines of a text, from one on."""
    return "".join(split_lines(text)[first - 1 : None if count is None else first - 1 + count])


def decoded(data: bytes, path: Path) -> str:
    """Bytes as text. Raises `ValueError` for what is none, with what to do."""
    check_text(data, path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise ValueError(
            f"{path} is no UTF-8: it has the byte 0x{byte:02x} where that cannot be; "
            f"Path({str(path)!r}).read_bytes() gives what is in it"
        ) from None


def check_text(data: bytes, path: Path) -> None:
    """Raises `ValueError` for what is binary."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{path} is UTF-16, not UTF-8; Path({str(path)!r}).read_text(encoding='utf-16') reads it")
    if b"\0" in data:
        raise ValueError(f"{path} is no text: it has NUL bytes; Path({str(path)!r}).read_bytes() gives what is in it")


def _lines(file: BinaryIO, first: int, count: int | None) -> bytes:
    _skip(file, first - 1)
    return file.read() if count is None else b"".join(itertools.islice(file, min(count, sys.maxsize)))


def _skip(file: BinaryIO, lines: int) -> None:
    """Go to where a line begins; to the end, if there are fewer."""
    while lines and (block := file.read(_BLOCK)):
        found = block.count(b"\n")
        if found >= lines:
            rest = block.split(b"\n", lines)[-1]
            file.seek(-len(rest), os.SEEK_CUR)
            return
        lines -= found
