"""JSON, or lines of JSON, and the part of it that a path such as `.rows[0]["name"]` leads to."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    Step = Union[str, int]

_TEXT = r'"(?:[^"\\]|\\.)*"'
_NAME = r"[^\s.\[\]\"]+"
_STEP = re.compile(
    rf"\.?\[\s*(?:(?P<index>-?[0-9]{{1,18}})|(?P<key>{_TEXT}))\s*\]|\.(?:(?P<text>{_TEXT})|(?P<name>{_NAME}))"
)
_KEYS = 10


def parsed(text: str, name: str) -> Any:
    """The value of a text; of lines that are JSON each, a list. Raises `ValueError` for what is neither."""
    try:
        return json.loads(text)
    except ValueError as error:
        whole = error
    values: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except ValueError as error:
                why = f"as lines of JSON, line {number}: {error}" if values else f"{whole}"
                raise ValueError(f"{name} is no JSON: {why}") from None
    if not values:
        raise ValueError(f"{name} is no JSON: it is empty")
    return values


def part(value: Any, path: str, name: str) -> Any:
    """What a path leads to. Raises `ValueError` for one that cannot be read, and `LookupError` where it ends."""
    place = ""
    for step in _steps(path):
        further = f"{place}{_shown(step)}"
        if isinstance(step, int) and isinstance(value, list):
            if not -len(value) <= step < len(value):
                raise LookupError(f"{name} has no {further}: {place or '.'} is a list of {len(value)}")
            value = value[step]
        elif isinstance(step, str) and isinstance(value, dict):
            if step not in value:
                raise LookupError(f"{name} has no {further}: {place or '.'} has {_keys(value)}")
            value = value[step]
        else:
            raise LookupError(f"{name} has no {further}: {place or '.'} is {_kind(value)}")
        place = further
    return value


def _steps(path: str) -> list[Step]:
    text = path.strip()
    steps: list[Step] = []
    if text in {"", "."}:
        return steps
    if text[0] not in ".[":
        text = f".{text}"
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        try:
            steps.append(_step(match))
        except ValueError:
            raise ValueError(
                f'the query {path!r} cannot be read from {text[at:]!r} on: write .key, [0] or ["key"]'
            ) from None
        at = match.end() if match else len(text)
    return steps


def _step(match: re.Match[str] | None) -> Step:
    if match is None:
        raise ValueError
    if match["index"] is not None:
        return int(match["index"])
    return match["name"] or str(json.loads(match["key"] or match["text"]))


def _shown(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(_NAME, step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def _keys(value: dict[str, Any]) -> str:
    if not value:
        return "no keys"
    more = f" and {len(value) - _KEYS} more" if len(value) > _KEYS else ""
    return f"the keys {', '.join(list(value)[:_KEYS])}{more}"


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {_keys(value)}"
    return "null" if value is None else f"the value {json.dumps(value, ensure_ascii=False)[:50]}"
