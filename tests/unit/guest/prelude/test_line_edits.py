"""Lines are looked at, deleted and inserted as `sed` and `grep` do it; the others stay byte for byte."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude import host_tools
from pisces.guest.prelude.names import delete_lines, delete_matching, insert_at, lines, write
from tests.unit.guest.prelude.counterparts import TEXTS, answer, each_raises, put

pytestmark = pytest.mark.processes

BOM = b"\xef\xbb\xbf"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "a.txt"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def size(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


@settings(max_examples=50)
@given(text=TEXTS, start=st.integers(1, 10), more=st.integers(0, 4))
def test_lines_are_shown_as_sed_prints_them(file: Path, text: str, start: int, more: int) -> None:
    put(file, text)
    assert lines(file, start, start + more) == answer("sed", "-n", f"{start},{start + more}p", str(file))


@settings(max_examples=50)
@given(text=TEXTS, start=st.integers(1, 10), more=st.none() | st.integers(0, 4))
def test_lines_are_deleted_as_sed_does_or_the_file_stays(file: Path, text: str, start: int, more: int | None) -> None:
    put(file, text)
    end = start + (more or 0)
    if end > size(text):
        with pytest.raises(ValueError, match=r"a\.txt has \d lines?: line \d+ is past its end"):
            delete_lines(file, start, None if more is None else end)
        assert file.read_bytes() == text.encode()
        return
    expected = answer("sed", f"{start},{end}d", str(file))
    assert delete_lines(file, start, None if more is None else end) == end - start + 1
    assert file.read_bytes().decode() == expected


@settings(max_examples=60)
@given(
    text=TEXTS.map(lambda text: text.replace("\r", "")), pattern=st.sampled_from(["a", "^a$", "b|é", "^$", "x *$", "."])
)
def test_lines_that_match_are_deleted_as_sed_does(file: Path, text: str, pattern: str) -> None:
    put(file, text)
    expected = answer("env", "LC_ALL=C.UTF-8", "sed", "-E", f"/{pattern}/d", str(file))
    assert delete_matching(file, pattern) == size(text) - size(expected)
    assert file.read_bytes().decode() == expected


@settings(max_examples=40)
@given(text=TEXTS, part=st.sampled_from(["a", " ", "\\", ".", "a b", "é"]))
def test_lines_with_a_text_in_them_are_deleted_as_grep_leaves_them_out(file: Path, text: str, part: str) -> None:
    put(file, text)
    expected = answer("bash", "-c", 'grep -vF -- "$1" "$2" || true', "-", part, str(file))
    delete_matching(file, part, regex=False)
    left = file.read_bytes().decode()
    assert (left if left.endswith("\n") or not left else left + "\n") == expected


@settings(max_examples=60)
@given(
    text=TEXTS.map(lambda text: text.replace("\r", "")).filter(bool),
    new=st.lists(st.text("ab é", min_size=1, max_size=3), min_size=1, max_size=3),
    ended=st.booleans(),
    after=st.booleans(),
    data=st.data(),
)
def test_lines_are_inserted_as_sed_does(
    file: Path, text: str, new: list[str], ended: bool, after: bool, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, size(text)))
    put(file, text)
    script = put(file.with_name("script"), "\\\n".join([f"{number}{'a' if after else 'i'}", *new]) + "\n")
    expected = answer("sed", "-f", str(script), str(file))
    assert insert_at(file, number, "\n".join(new) + ("\n" if ended else ""), after=after) == file
    assert file.read_bytes().decode() == expected


def test_what_is_told(events: list[dict[str, Any]]) -> None:
    write("a", "1\n2\n3\n4\n")
    events.clear()
    lines("a", 3)
    lines("a", 2, 9)
    lines("a", 7)
    delete_lines("a", 2, 3)
    delete_lines("a", 2)
    delete_matching("a", "^1")
    insert_at("a", 0, "x\ny")
    insert_at("a", 1, "z\n", after=False)
    assert events == [
        {"op": "lines", "path": "a", "start": 3, "end": 4, "count": 2, "preview": "3\n4\n"},
        {"op": "lines", "path": "a", "start": 2, "end": 4, "count": 3, "preview": "2\n3\n4\n"},
        {"op": "lines", "path": "a", "start": 7, "end": 7, "count": 0, "preview": ""},
        {"op": "delete_lines", "path": "a", "start": 2, "end": 3, "count": 2},
        {"op": "delete_lines", "path": "a", "start": 2, "end": 2, "count": 1},
        {"op": "delete_matching", "path": "a", "pattern": "^1", "count": 1},
        {"op": "insert_at", "path": "a", "line": 0, "lines_inserted": 2, "position": "after"},
        {"op": "insert_at", "path": "a", "line": 1, "lines_inserted": 1, "position": "before"},
    ]


@pytest.mark.parametrize(
    ("before", "number", "text", "expected"),
    [
        (b"", 0, "x", b"x\n"),
        (b"", 0, "", b""),
        (b"a", 1, "x", b"a\nx\n"),
        (b"a", 0, "x", b"x\na"),
        (b"a\r\nb", 2, "x\ny", b"a\r\nb\r\nx\r\ny\r\n"),
        (b"a\r\nb\r\n", 1, "x\r\ny\r\n", b"a\r\nx\r\ny\r\nb\r\n"),
        (b"a\nb\n", 1, "x\r\n", b"a\nx\r\nb\n"),
        (BOM + b"a\n", 0, "x", BOM + b"x\na\n"),
        (BOM, 0, "x", BOM + b"x\n"),
        (b"a\n", 1, "\n", b"a\n\n"),
    ],
)
def test_inserted_lines_never_merge_with_others(before: bytes, number: int, text: str, expected: bytes) -> None:
    Path("a").write_bytes(before)
    insert_at("a", number, text)
    assert Path("a").read_bytes() == expected


def test_the_mark_and_the_ends_of_lines_stay() -> None:
    Path("a").write_bytes(BOM + b"one\r\ntwo\r\n\xe2\x80\xa8three\nfour")
    assert delete_matching("a", "^one$") == 1
    assert Path("a").read_bytes() == BOM + b"two\r\n\xe2\x80\xa8three\nfour"
    delete_lines("a", 2)
    assert Path("a").read_bytes() == BOM + b"two\r\nfour"


def test_a_file_in_which_nothing_changes_is_not_written() -> None:
    write("a", "1\n2\n")
    before = os.stat("a")
    delete_matching("a", "3")
    insert_at("a", 1, "")
    after = os.stat("a")
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


def test_lines_of_an_address_are_read_by_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    # The bridge has tests of its own.
    monkeypatch.setattr(host_tools, "HostTool", lambda name: lambda path: f"1\n{path}\n3\n")
    assert lines("memory://x", 2, 2) == "memory://x\n"


EDITS: dict[str, Callable[[Any], Any]] = {
    "delete_lines": lambda path: delete_lines(path, 1),
    "delete_matching": lambda path: delete_matching(path, "a"),
    "insert_at": lambda path: insert_at(path, 0, "x"),
}
CALLS = {"lines": lines, **EDITS}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_what_cannot_be_a_file_of_text_is_refused_and_stays(name: str, here: Path) -> None:
    for content in (b"a\0", b"a\xe9\n", b"\xff\xfea\0\n\0"):
        Path("bad").write_bytes(content)
        with pytest.raises(ValueError, match="bad is "):
            CALLS[name]("bad")
        assert Path("bad").read_bytes() == content
    with pytest.raises(FileNotFoundError, match="'no/such'"):
        CALLS[name]("no/such")
    with pytest.raises(IsADirectoryError):
        CALLS[name](here)
    with pytest.raises(TypeError, match="a path is a text or a Path"):
        CALLS[name](None)
    with pytest.raises(ValueError, match="the path is empty"):
        CALLS[name]("")
    assert os.listdir() == ["bad"]


@pytest.mark.parametrize("name", sorted(EDITS))
def test_an_address_is_not_edited(name: str) -> None:
    with pytest.raises(ValueError, match="is an address, not a file"):
        EDITS[name]("artifact://3")


def test_numbers_that_cannot_be_are_refused_and_the_file_stays() -> None:
    write("a", "1\n2\n")
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: lines("a", 0), "start is 1 or more, not 0"),
        (lambda: lines("a", 2, 1), "start is after end: 2 to 1"),
        (lambda: delete_lines("a", 2, 1), "start is after end: 2 to 1"),
        (lambda: delete_lines("a", 0), "start is 1 or more, not 0"),
        (lambda: delete_lines("a", 1, 3), "a has 2 lines: line 3 is past its end"),
        (lambda: delete_lines("a", 3), "a has 2 lines: line 3 is past its end"),
        (lambda: insert_at("a", 3, "x"), "a has 2 lines: there is no line 3 to insert at"),
        (lambda: insert_at("a", -1, "x"), "line_num is 0 or more, not -1"),
        (lambda: delete_matching("a", ""), "the pattern is empty"),
        (lambda: delete_matching("a", "", regex=False), "the pattern is empty"),
        (lambda: delete_matching("a", "("), r"'\(' does not compile: missing \)"),
        (lambda: insert_at("a", 1, "\ud83d"), "half of a character"),
    ]
    for call, words in wrong:
        with pytest.raises(ValueError, match=words):
            call()
    number: Any = 3
    text: Any = "1"
    each_raises(TypeError, "whole number", lambda: delete_lines("a", text), lambda: insert_at("a", text, "x"))
    each_raises(TypeError, "is a text", lambda: insert_at("a", 1, number), lambda: delete_matching("a", number))
    assert Path("a").read_bytes() == b"1\n2\n"
