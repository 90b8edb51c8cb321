"""Whole outputs that results showed in part, read by their numbers from the folder where the host keeps them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .arguments import text_of, whole_number
from .status import tell
from .text_files import lines_within, some_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEME = "artifact://"
_FOLDER = "PI_ARTIFACTS_DIR"
_BRIDGE = "PI_TOOL_BRIDGE_URL"
_FORMATS = ("raw", "json")
_NAMED = 10
_NUMBER = re.compile(r"[0-9]{1,18}")
_RANGE = re.compile(r"([0-9]{1,18})(-([0-9]{0,18}))?")


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
    """From the file, if it is on this machine; else the host is asked."""
    folder = os.environ.get(_FOLDER, "")
    found = _file(Path(folder), number) if folder else None
    if found is not None:
        return some_bytes(found, first, count).decode("utf-8", "replace")
    if os.environ.get(_BRIDGE) and not (folder and os.path.isdir(folder)):
        return _from_host(number, first, count)
    there = _available(Path(folder)) if folder else []
    available = ", ".join(map(str, there[:_NAMED])) or "none"
    where = folder or f"nowhere: {_FOLDER} is not set"
    raise FileNotFoundError(f"there is no artifact {number}; there are: {available} ({where})")


def _file(folder: Path, number: int) -> Path | None:
    return next((path for path in sorted(folder.glob(f"*/{number}.*")) if path.is_file()), None)


def _available(folder: Path) -> list[int]:
    numbers = {path.name.partition(".")[0] for path in folder.glob("*/*.*.*")}
    return sorted((int(number) for number in numbers if _NUMBER.fullmatch(number)), reverse=True)


def _from_host(number: int, first: int, count: int | None) -> str:
    from . import host_tools

    if count == 0:
        return ""
    span = "" if first == 1 and count is None else f":{first}-" if count is None else f":{first}-{first + count - 1}"
    return str(host_tools.HostTool("read")(path=f"{SCHEME}{number}{span}"))


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
