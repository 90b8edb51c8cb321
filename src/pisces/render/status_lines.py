"""Status events as one-liners: what a helper did, in a few words for the person who watches."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pisces.model.events import Status
from pisces.render.shown_text import clean_line, one_line
from pisces.render.spans import counted, duration, more_lines

MOST_DETAIL: Final = 5
_LONGEST: Final = 200
_Fields = Mapping[str, Any]


def status_line(event: Status) -> str:
    """One event in a few words, on one line. An error wins over all else that the event says."""
    data = event.data if isinstance(event.data, Mapping) else {}
    name = _text(event.op)
    if data.get("error"):
        subject = next((_text(data[key]) for key in ("path", "pattern", "src", "cmd", "name") if data.get(key)), "")
        return f"{name} {subject}".rstrip() + f": {_text(data['error'])}"
    words = _WORDS.get(event.op)
    said = words(data) if words is not None else _any(data)
    return f"{name} {said}".rstrip()


def status_lines(events: tuple[Status, ...], most: int) -> tuple[int, list[str]]:
    """How many earlier ones there are, and the newest as lines."""
    newest = events[-most:]
    return len(events) - len(newest), [status_line(event) for event in newest]


def status_detail(event: Status) -> list[str]:
    """What an event has besides: what was found, changed or read, a few lines of it."""
    data = event.data if isinstance(event.data, Mapping) else {}
    found: list[str] = []
    for key in ("matches", "hits", "changed", "keys", "top"):
        if isinstance(items := data.get(key), list | tuple):
            found += [_item(item) for item in items]
    for key in ("preview", "output"):
        if isinstance(text := data.get(key), str) and text:
            found += [clean_line(line, coloured=False, most=_LONGEST) for line in text.strip("\n").split("\n")]
    more = len(found) - MOST_DETAIL
    return [*found[:MOST_DETAIL], more_lines(more)] if more > 0 else found


def _item(item: object) -> str:
    """One of a list: a name, a place with its text, or a name with a count."""
    if isinstance(item, Mapping):
        place = ":".join(_text(item[key]) for key in ("file", "line") if key in item)
        return _text(f"{place}: {_text(item['text'] if 'text' in item else item.get('count', ''))}")
    return _text(" ".join(map(_text, item)) if isinstance(item, list | tuple) else item)


def _text(value: object) -> str:
    """Any value in a few words; what is no text is shown as JSON would have it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else "null"
    try:
        return one_line(value if isinstance(value, str) else str(value), _LONGEST)
    except ValueError:  # A number with more digits than Python puts into words.
        return "a very large number"
    except RecursionError:
        return "data that is too deep to be shown"


def _number(data: _Fields, key: str, one: str, many: str = "") -> str:
    count = data.get(key, 0)
    return counted(count if isinstance(count, int) else _text(count), one, many)


def _at(data: _Fields, key: str = "path") -> str:
    return _text(data.get(key, "?"))


def _matches(data: _Fields) -> str:
    return f'{_number(data, "count", "match", "matches")} for "{_at(data, "pattern")}"'


def _replacements(data: _Fields) -> str:
    return f"{_number(data, 'count', 'replacement')} in {_at(data)}"


def _env(data: _Fields) -> str:
    if "key" not in data:
        return _number(data, "count", "variable")
    value = data.get("value")
    said = f"{_at(data, 'key')}={_text(value)}" if value is not None else f"{_at(data, 'key')} is not set"
    return f"set {said}" if data.get("action") == "set" else said


def _stat(data: _Fields) -> str:
    return f"{_at(data)}: {'directory' if data.get('is_dir') else _number(data, 'size', 'byte')}"


def _diff(data: _Fields) -> str:
    return f"{_at(data, 'file_a')} and {_at(data, 'file_b')} {'identical' if data.get('identical') else 'differ'}"


def _lines(data: _Fields) -> str:
    return f"{_number(data, 'count', 'line')} ({_at(data, 'start')}-{_at(data, 'end')}) of {_at(data)}"


def _deleted(data: _Fields) -> str:
    return f"{_number(data, 'count', 'line')} deleted in {_at(data)}"


def _inserted(data: _Fields) -> str:
    return f"{_number(data, 'lines_inserted', 'line')} inserted in {_at(data)}"


def _moved(data: _Fields) -> str:
    return f"{_at(data, 'src')} → {_at(data, 'dst')}"


def _shell(data: _Fields) -> str:
    return f"{_at(data, 'cmd')} · exit {_at(data, 'code')}" if "code" in data else _at(data, "cmd")


def _tool(data: _Fields) -> str:
    took = data.get("ms")
    time = f" · {duration(took)}" if isinstance(took, int | float) else ""
    return f"{_at(data, 'name')}{'' if data.get('ok', True) else ' failed'}{time}"


def _side_by_side(data: _Fields) -> str:
    failed = data.get("failed")
    took = data.get("ms")
    parts = [_number(data, "count", "call"), f"{_text(failed)} failed" if failed else ""]
    parts.append(duration(took) if isinstance(took, int | float) else "")
    return " · ".join(part for part in parts if part)


def _any(data: _Fields) -> str:
    """An event of an op that nobody told us of: its plain fields."""
    plain = {key: value for key, value in data.items() if isinstance(value, str | int | float | bool)}
    return _text(", ".join(f"{_text(key)}={_text(value)[:60]}" for key, value in list(plain.items())[:4]))


_WORDS: Final[dict[str, Callable[[_Fields], str]]] = {
    "read": lambda data: f"{_number(data, 'chars', 'char')} from {_at(data)}",
    "write": lambda data: f"{_number(data, 'chars', 'char')} to {_at(data)}",
    "append": lambda data: f"{_number(data, 'chars', 'char')} to {_at(data)}",
    "rm": lambda data: f"{_at(data)}{' and all in it' if data.get('recursive') else ''}",
    "mv": _moved,
    "cp": _moved,
    "find": _matches,
    "glob": _matches,
    "rgrep": _matches,
    "grep": lambda data: f"{_number(data, 'count', 'match', 'matches')} in {_at(data)}",
    "env": _env,
    "stat": _stat,
    "replace": _replacements,
    "sed": _replacements,
    "rsed": lambda data: f"{_number(data, 'count', 'replacement')} in {_number(data, 'files', 'file')}",
    "diff": _diff,
    "lines": _lines,
    "delete_lines": _deleted,
    "delete_matching": _deleted,
    "insert_at": _inserted,
    "sh": _shell,
    "tree": lambda data: f"{_number(data, 'entries', 'entry', 'entries')} in {_at(data)}",
    "sort_lines": lambda data: _number(data, "lines", "line"),
    "uniq": lambda data: _number(data, "groups", "group"),
    "counter": lambda data: f"{_at(data, 'unique')} unique of {_at(data, 'total')}",
    "cols": lambda data: _number(data, "lines", "line"),
    "output": lambda data: f"{_number(data, 'chars', 'char')} of {_number(data, 'count', 'artifact')}",
    "tool": _tool,
    "parallel": _side_by_side,
    "log": lambda data: _at(data, "text"),
    "phase": lambda data: _at(data, "text"),
}
