"""Set or remove one table of a TOML file, and leave every other character as it is.

The standard library reads TOML and writes none. A table can be given in many ways (`[a.b]`, `b.x = 1` under `[a]`,
`a.b = {…}`): those that are statements of their own are edited; one inside another's value is refused.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from typing import Any, Final

import msgspec

from pisces.mcp.clients.malformed import Malformed

_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADER: Final = re.compile(r"[ \t]*\[")
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'",
    re.DOTALL,
)


class Statement(msgspec.Struct, frozen=True):
    """A header or a `key = value`: the whole lines from `start` to before `end`, and the full path that it is about."""

    path: tuple[str, ...]
    start: int
    end: int
    header: bool
    array: bool = False


def parse(text: str) -> dict[str, Any]:
    """The values. Raises `Malformed`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        what = _PLACE.sub("", str(error)).strip()
        at = len(text) if place is None else _offset(text, int(place[1]), int(place[2]))
        raise Malformed(what[:1].lower() + what[1:], text, at) from error
    except (ValueError, RecursionError) as error:  # An integer of thousands of digits, or lists in lists.
        raise Malformed(f"it cannot be read ({error})", text, 0) from error


def with_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with this table, where it was or else at the end. Raises `Malformed`."""
    parse(text)
    end = "\r\n" if "\r\n" in text else "\n"
    table = _rendered(path, values, end)
    ours = _statements_of(text, path)
    if ours and ours[0].header:
        return text[: ours[0].start] + table + _after(text, ours)
    text = without_table(text, path)
    if text and not text.endswith("\n"):
        text += end
    return text + (end if text else "") + table


def with_values(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with these values in the table, which has to be there; what else is in it stays. Raises `Malformed`."""
    whole: Any = parse(text)
    for key in path:
        whole = whole[key]
    own = _section(_statements_of(text, path), tuple(path))
    places = {each.path[-1]: each for each in own if each.path[:-1] == tuple(path)}
    if not own or any(key in whole and key not in places for key in values):
        return with_table(text, path, {**whole, **values})
    end = "\r\n" if "\r\n" in text else "\n"
    last = own[-1].end
    begun = "" if text[:last].endswith("\n") else end
    missing = "".join(f"{key} = {_value(value)}{end}" for key, value in values.items() if key not in places)
    text = text[:last] + (begun + missing if missing else "") + text[last:]
    for each in reversed(own):
        key = each.path[-1]
        if places.get(key) is each and key in values and whole[key] != values[key]:
            text = f"{text[: each.start]}{key} = {_value(values[key])}{end}{text[each.end :]}"
    return text


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without this table and its tables; as it is if there is none. Raises `Malformed`."""
    parse(text)
    ours = _statements_of(text, path)
    if not ours:
        return text
    start = ours[0].start
    if ours[0].header:
        # `with_table` puts a blank line before its own.
        start -= next((len(blank) for blank in ("\r\n", "\n") if _ends_in_blank_line(text[:start], blank)), 0)
    return text[:start] + _after(text, ours)


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text that is valid."""
    table: tuple[str, ...] = ()
    at = 0
    while at < len(text):
        stop = _end_of_statement(text, at)
        line = text[at:stop].lstrip(" \t")
        if line.startswith("["):
            array = line.startswith("[[")
            table = _key(line[2 if array else 1 :])
            yield Statement(table, at, stop, header=True, array=array)
        elif line.strip() and not line.startswith("#"):
            yield Statement((*table, *_key(line)), at, stop, header=False)
        at = stop


def _statements_of(text: str, path: Sequence[str]) -> list[Statement]:
    """The statements that make up the table. Raises `Malformed` if it is in the value of another."""
    wanted, found = tuple(path), []
    for each in statements(text):
        if each.path[: len(wanted)] == wanted:
            if each.array and len(each.path) == len(wanted):
                raise Malformed(f"{'.'.join(path)} is a list of tables, which cannot be edited", text, each.start)
            found.append(each)
        elif not each.header and each.path == wanted[: len(each.path)]:
            name = ".".join(each.path)
            raise Malformed(f"{name} is given as one value; give it as tables, such as [{name}.name]", text, each.start)
    return found


def _section(ours: Sequence[Statement], path: tuple[str, ...]) -> list[Statement]:
    """The header of the table and the statements below it; empty if the table is given in another way."""
    found: list[Statement] = []
    for each in ours:
        if each.header and found:
            break
        if found or (each.header and each.path == path):
            found.append(each)
    return found


def _after(text: str, ours: Sequence[Statement]) -> str:
    """What comes after the first of these statements, without the others."""
    ends = [each.end for each in ours]
    starts = [*(each.start for each in ours[1:]), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _ends_in_blank_line(text: str, line_end: str) -> bool:
    return text == line_end or text.endswith("\n" + line_end)


def _end_of_statement(text: str, at: int) -> int:
    """The end of the line on which the statement ends that begins here: lists and long texts go over several."""
    depth = 0
    is_header = _HEADER.match(text, at) is not None
    while at < len(text):
        character = text[at]
        if match := _STRING.match(text, at):
            at = match.end()
            continue
        if character == "#":
            at = _end_of_line(text, at)
            continue
        if character == "\n" and depth <= 0:
            return at + 1
        if not is_header:
            depth += (character in "[{") - (character in "]}")
        at += 1
    return at


def _end_of_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _key(text: str) -> tuple[str, ...]:
    """The key that the text begins with, of one or more parts."""
    parts: list[str] = []
    at = 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t"))
        match = _STRING.match(text, at) or _BARE.match(text, at)
        assert match is not None, text
        parts.append(next(iter(tomllib.loads(f"{match[0]} = 0"))))
        rest = text[match.end() :].lstrip(" \t")
        if not rest.startswith("."):
            return tuple(parts)
        at = len(text) - len(rest) + 1


def _rendered(path: Sequence[str], values: Mapping[str, Any], end: str) -> str:
    name = ".".join(map(_name, path))
    lines = [f"[{name}]", *(f"{_name(key)} = {_value(value)}" for key, value in values.items())]
    return "".join(line + end for line in lines)


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_name(key)} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    # The escapes of JSON are those of TOML, which wants one for DEL as well.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _offset(text: str, line: int, column: int) -> int:
    begin = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
    return min(begin + column - 1, len(text))
