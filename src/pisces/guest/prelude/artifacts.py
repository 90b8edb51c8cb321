"""Whole outputs that results showed in part, read by their numbers from the folder where the host keeps them.

On another machine that folder is the kernel's own, and an output is copied into it from the host when it is read.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from .arguments import text_of, whole_number
from .status import tell
from .text_files import lines_within, some_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    Fetch = Callable[[int, int], tuple[str, str, bytes]]

SCHEME = "artifact://"
_FOLDER = "PI_ARTIFACTS_DIR"
_FORMATS = ("raw", "json")
_NAMED = 10
_NUMBER = re.compile(r"[0-9]{1,18}")
_RANGE = re.compile(r"([0-9]{1,18})(-([0-9]{0,18}))?")
_host: list[tuple[Fetch, int]] = []
"""How to ask the host for a piece of an output, and the process that can; empty on the host's own machine."""


def fetch_with(fetch: Fetch) -> None:
    """Copy outputs from the host from now on: `fetch` gives an output's file name and bytes from a position on.

    Between them is where these bytes begin, if those at the position were not kept. It raises `LookupError` for an
    output that this session cannot have.
    """
    _host[:] = [(fetch, os.getpid())]


def on_another_machine() -> bool:
    """Whether the host keeps its files where this kernel cannot open them."""
    return bool(_host)


def output(*ids: int | str, format: str, query: str | None, offset: int | None, limit: int | None) -> Any:
    """The text of one artifact; of several, each under a heading. As JSON its value; of several, a list of values.

    `query` reads the artifact as JSON, and gives the part as a value, or with `raw` as text.
    """
    if not ids:
        raise ValueError("output() needs the number of an artifact: 3, for what a notice calls artifact://3")
    if format not in _FORMATS:
        raise ValueError(f"format is {' or '.join(map(repr, _FORMATS))}, not {format!r}")
    numbers = [_number(given) for given in ids]
    tell(ids=[str(number) for number in numbers], count=len(numbers))
    first = 1 if offset is None else whole_number(offset, "offset", 1)
    count = None if limit is None else whole_number(limit, "limit", 0)
    texts = [_lines(number, first, count) for number in numbers]
    tell(chars=sum(map(len, texts)))
    if format == "raw" and query is None:
        return texts[0] if len(texts) == 1 else _under_headings(numbers, texts)
    values = [_value(number, text, query) for number, text in zip(numbers, texts)]
    if format == "json":
        return values[0] if len(values) == 1 else values
    shown = [_as_text(value) for value in values]
    return shown[0] if len(shown) == 1 else _under_headings(numbers, shown)


def text_at(address: str, first: int, count: int | None) -> str:
    """Lines of what `artifact://3` names, or of the lines that `artifact://3:100-200` does."""
    name, colon, span = address[len(SCHEME) :].partition(":")
    number = _number(name)
    if not colon:
        return _lines(number, first, count)
    match = _RANGE.fullmatch(span)
    start = int(match[1]) if match else 0
    end = None if not match else start if match[2] is None else int(match[3]) if match[3] else None
    if start < 1 or (end is not None and end < start):
        raise ValueError(f"{address} has no range of lines: write {SCHEME}{number}:100-200, 100- or 100")
    return lines_within(_lines(number, start, None if end is None else end - start + 1), first, count)


def _number(given: int | str) -> int:
    """Raises `ValueError` for all that is no number: it becomes a part of a file's name."""
    text = given.removeprefix(SCHEME) if isinstance(given, str) else given
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
        raise ValueError(f"an artifact is named by a number, such as 3 or {SCHEME}3, not by {given!r}")
    return int(text)


def _lines(number: int, first: int, count: int | None) -> str:
    folder = os.environ.get(_FOLDER, "")
    if _host:
        found: Path | None = _copied(number, Path(folder))
    else:
        found = _file(Path(folder), number) if folder else None
    if found is not None:
        with ExitStack() as opened:
            parts = _open_parts(found, number, opened)
            data = some_bytes(found, first, count) if len(parts) == 1 else _lines_of(parts, number, first, count)
        return data.decode("utf-8", "replace")
    there = _available(Path(folder)) if folder else []
    available = ", ".join(map(str, there[:_NAMED])) or "none"
    where = folder or f"nowhere: {_FOLDER} is not set"
    raise FileNotFoundError(f"there is no artifact {number}; there are: {available} ({where})")


def _file(folder: Path, number: int) -> Path | None:
    return next((path for path in sorted(folder.glob(f"*/{number}.*")) if path.is_file()), None)


def _tail_folder(path: Path, number: int) -> Path:
    return path.with_name(f".{number}.tail")


class _Part:
    """A file of an artifact, open: the byte and the line of the output that it begins with."""

    def __init__(self, file: BinaryIO, byte: int = 0, line: int = 1, cut: bool = False) -> None:
        self.file, self.byte, self.line, self.cut = file, byte, line, cut


def _open_parts(path: Path, number: int, opened: ExitStack) -> list[_Part]:
    """All files of an artifact: one that was too large for one has its end in others, named by where they begin."""
    folder = _tail_folder(path, number)
    while True:
        with ExitStack() as opening:
            parts = [_Part(opening.enter_context(open(path, "rb")))]
            try:
                for name in os.listdir(folder) if folder.is_dir() else ():
                    byte, line, *cut = name.split("-")
                    file = opening.enter_context(open(folder / name, "rb"))
                    parts.append(_Part(file, int(byte), int(line), bool(cut)))
            except FileNotFoundError:  # The output goes on, and its oldest file was deleted just now: look again.
                continue
            opened.enter_context(opening.pop_all())
            return sorted(parts, key=lambda part: part.byte)


def _lines_of(parts: list[_Part], number: int, first: int, count: int | None) -> bytes:
    """Lines of several files; a note says what is missing between. Raises `ValueError` where the first is missing."""
    end = sys.maxsize if count is None else first + count
    found: list[bytes] = []
    byte, line = 0, 1
    while len(parts) > 1 and (first > parts[1].line or (first == parts[1].line and not parts[1].cut)):
        parts = parts[1:]
        byte, line = parts[0].byte, parts[0].line
    for part in parts:
        if part.byte != byte and line < end:
            last = part.line - (not part.cut)
            missing = f"lines {line}-{last}" if last > line else f"parts of line {line}"
            if not found and first < part.line:
                raise ValueError(f"{missing} of artifact {number} are missing: it was too large to be kept whole")
            newline = b"\n" if found and not found[-1].endswith(b"\n") else b""
            note = f"[…{missing} are missing: the output was too large to be kept whole…]\n"
            found += [newline, note.encode()]
            line = part.line
        for row in part.file:
            if line >= end:
                return b"".join(found)
            if line >= first:
                found.append(row)
            line += row.endswith(b"\n")
        byte = part.byte + os.fstat(part.file.fileno()).st_size
    return b"".join(found)


def _available(folder: Path) -> list[int]:
    numbers = {path.name.partition(".")[0] for path in folder.glob("*/*.*.*")}
    return sorted((int(number) for number in numbers if _NUMBER.fullmatch(number)), reverse=True)


def _copied(number: int, folder: Path) -> Path:
    """A copy of the host's file, brought up to date: what has been copied before is not asked for again."""
    fetch, process = _host[0]
    if os.getpid() != process or threading.current_thread() is not threading.main_thread():
        raise RuntimeError("an artifact of the host can be read in the main thread of the kernel only")
    copy = _file(folder, number)
    target, end = copy, 0
    if copy is not None:
        with ExitStack() as opened:
            last = _open_parts(copy, number, opened)[-1]
            target, end = Path(last.file.name), last.byte + os.fstat(last.file.fileno()).st_size
    while True:
        try:
            name, place, piece = fetch(number, end)
        except LookupError as error:
            raise FileNotFoundError(
                f'{error.args[0]}; where the setting bridge.url is set, tool.read(path="{SCHEME}{number}") reads others'
            ) from None
        if copy is None or target is None:
            copy = target = folder / "copies" / Path(name).name
        if place:
            target, end = _tail_folder(copy, number) / Path(place).name, int(place.partition("-")[0])
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with target.open("ab") as file:
            file.write(piece)
        end += len(piece)
        if not piece:
            return copy


def _value(number: int, text: str, query: str | None) -> Any:
    from . import json_parts

    name = f"{SCHEME}{number}"
    value = json_parts.parsed(text, name)
    return value if query is None else json_parts.part(value, text_of(query, "query"), name)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False, indent=1)


def _under_headings(numbers: list[int], texts: list[str]) -> str:
    parts = [f"==> {SCHEME}{number} <==\n{text}" for number, text in zip(numbers, texts)]
    return "\n".join(part if part.endswith("\n") else f"{part}\n" for part in parts)
