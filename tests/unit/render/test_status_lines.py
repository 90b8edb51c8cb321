"""What helpers did, each in one line."""

import math
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.prelude import names
from pisces.model.events import Status
from pisces.render.status_lines import _WORDS, status_detail, status_line, status_lines


@pytest.mark.parametrize(
    ("op", "data", "line"),
    [
        ("read", {"path": "a.txt", "chars": 1}, "read 1 char from a.txt"),
        ("write", {"path": "a.txt", "chars": 12345}, "write 12,345 chars to a.txt"),
        ("append", {"path": "a.txt", "chars": 0}, "append 0 chars to a.txt"),
        ("find", {"pattern": "*.py", "count": 1}, 'find 1 match for "*.py"'),
        ("glob", {"pattern": "*.py", "count": 2}, 'glob 2 matches for "*.py"'),
        ("grep", {"path": "a", "pattern": "x", "count": 2}, "grep 2 matches in a"),
        ("rgrep", {"path": ".", "pattern": "x", "count": 1}, 'rgrep 1 match for "x"'),
        ("env", {"count": 1, "keys": ["A"]}, "env 1 variable"),
        ("env", {"key": "A", "value": "b", "action": "get"}, "env A=b"),
        ("env", {"key": "A", "value": None, "action": "get"}, "env A is not set"),
        ("env", {"key": "A", "value": "b", "action": "set"}, "env set A=b"),
        ("stat", {"path": "a", "is_dir": True, "size": 4096}, "stat a: directory"),
        ("stat", {"path": "a", "is_dir": False, "size": 1}, "stat a: 1 byte"),
        ("replace", {"path": "a", "count": 1}, "replace 1 replacement in a"),
        ("sed", {"path": "a", "count": 0}, "sed 0 replacements in a"),
        ("rsed", {"path": ".", "count": 5, "files": 1}, "rsed 5 replacements in 1 file"),
        ("diff", {"file_a": "a", "file_b": "b", "identical": True}, "diff a and b identical"),
        ("diff", {"file_a": "a", "file_b": "b", "identical": False}, "diff a and b differ"),
        ("lines", {"path": "a", "start": 3, "end": 9, "count": 7}, "lines 7 lines (3-9) of a"),
        ("delete_lines", {"path": "a", "count": 1}, "delete_lines 1 line deleted in a"),
        ("delete_matching", {"path": "a", "count": 2}, "delete_matching 2 lines deleted in a"),
        ("insert_at", {"path": "a", "lines_inserted": 2}, "insert_at 2 lines inserted in a"),
        ("mv", {"src": "a", "dst": "b"}, "mv a → b"),
        ("cp", {"src": "a", "dst": "b"}, "cp a → b"),
        ("rm", {"path": "a", "recursive": True}, "rm a and all in it"),
        ("sh", {"cmd": "ls", "code": 0}, "sh ls · exit 0"),
        ("tree", {"path": ".", "entries": 1}, "tree 1 entry in ."),
        ("counter", {"unique": 2, "total": 9}, "counter 2 unique of 9"),
        ("output", {"ids": ["3"], "count": 1, "chars": 7}, "output 7 chars of 1 artifact"),
        ("tool", {"name": "read", "ok": True, "ms": 12.3}, "tool read · 12 ms"),
        ("tool", {"name": "read", "ok": False, "ms": 1200, "error": "no such file"}, "tool read: no such file"),
        ("parallel", {"count": 3, "failed": 1, "ms": 5}, "parallel 3 calls · 1 failed · 5 ms"),
        ("log", {"text": "half\nway"}, "log half way"),
        ("phase", {"text": "Load"}, "phase Load"),
        ("rm", {"path": "gone", "error": "FileNotFoundError: gone"}, "rm gone: FileNotFoundError: gone"),
        ("train", {"epoch": 3, "loss": 0.5, "extra": [1]}, "train epoch=3, loss=0.5"),
        ("read", {}, "read 0 chars from ?"),
    ],
)
def test_each_is_said_in_a_few_words(op: str, data: dict[str, Any], line: str) -> None:
    assert status_line(Status(op, data)) == line


def test_every_helper_that_tells_something_has_words() -> None:
    silent = {"display", "helper", "tool"}
    ops = {"run": "sh", "bash": "sh", "glob_files": "glob"}
    told = {ops.get(name, name) for name in names.helpers() if name not in silent}
    assert told <= set(_WORDS)


def test_the_newest_are_shown_and_the_others_counted() -> None:
    events = tuple(Status("log", {"text": str(number)}) for number in range(5))
    assert status_lines(events, 3) == (2, ["log 2", "log 3", "log 4"])
    assert status_lines(events[:3], 3)[0] == 0
    assert status_lines((), 3) == (0, [])


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ({"matches": ["a", "b"]}, ["a", "b"]),
        ({"matches": list("abcdefg")}, ["a", "b", "c", "d", "e", "… 2 more lines"]),
        ({"hits": [{"file": "a.py", "line": 3, "text": "x = 1"}]}, ["a.py:3: x = 1"]),
        ({"hits": [{"line": 3, "text": "x"}]}, ["3: x"]),
        ({"changed": [{"file": "a.py", "count": 2}]}, ["a.py: 2"]),
        ({"top": [[3, "a"]]}, ["3 a"]),
        ({"output": "one\n\x1b[2Jtwo\n"}, ["one", "two"]),
        ({"preview": 7, "hits": "no list"}, []),
    ],
)
def test_what_was_found_is_the_detail(data: dict[str, Any], rows: list[str]) -> None:
    assert status_detail(Status("find", data)) == rows


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
KEYS = [
    "path",
    "pattern",
    "count",
    "chars",
    "error",
    "ms",
    "key",
    "value",
    "code",
    "cmd",
    "name",
    "text",
    "files",
    "hits",
    "preview",
]


@given(st.sampled_from([*_WORDS, "other"]), st.dictionaries(st.sampled_from(KEYS), JSON))
def test_whatever_an_event_says_it_is_one_line(op: str, data: dict[str, Any]) -> None:
    line = status_line(Status(op, data))
    assert line.startswith(op)
    assert line.isprintable() or not set(line) & set("\n\r\t\x1b")
    assert len(line) < 1000
    assert not any(set(row) & set("\n\r\t\x1b") for row in status_detail(Status(op, data)))


def test_a_number_that_python_cannot_put_into_words_is_said_to_be_large() -> None:
    assert status_line(Status("read", {"path": "a", "chars": 10**5000})).startswith("read ")


@pytest.mark.parametrize(
    "event",
    [
        Status("tool", {"name": "eval", "ms": 10**400}),
        Status("parallel", {"count": 2, "failed": 10**5000, "ms": -math.inf}),
        Status("parallel", {"count": 2, "failed": "\x1b[2J\n"}),
        Status("log", {"text": reduce(lambda inner, _: [inner], range(100_000), list[Any]())}),
    ],
    ids=["time", "count", "text", "depth"],
)
def test_what_nobody_expects_in_an_event_is_one_line(event: Status) -> None:
    line = status_line(event)
    assert line.isprintable()
    assert len(line) < 300
