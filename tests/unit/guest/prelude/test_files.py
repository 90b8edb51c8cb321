"""Whole files: read, written, added to, deleted and looked at."""

import os
import re
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude import host_tools
from pisces.guest.prelude.names import append, read, rm, stat, write
from tests.unit.guest.prelude.counterparts import TEXTS, answer, each_raises, put

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for many examples, one after the other."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@settings(max_examples=60)
@given(text=TEXTS, first=st.integers(1, 10), count=st.integers(1, 4))
def test_some_lines_are_those_that_sed_prints(ground: Path, text: str, first: int, count: int) -> None:
    file = put(ground / "a.txt", text)
    assert read(file, first, count) == answer("sed", "-n", f"{first},{first + count - 1}p", str(file))
    assert read(file, offset=first) == answer("sed", "-n", f"{first},$p", str(file))


@given(text=TEXTS)
def test_what_is_written_is_in_the_file_and_is_read(ground: Path, text: str) -> None:
    file = ground / "w.txt"
    assert write(file, text) == file
    assert file.read_bytes() == text.encode()
    append(str(file), text)
    assert read(file) == text + text
    assert not [name for name in os.listdir(ground) if name.startswith(".")]


def test_what_reading_and_writing_tells(events: list[dict[str, Any]]) -> None:
    long = "é" * 600
    write("new/a.txt", long)
    append("new/a.txt", "\nb\n")
    read("new/a.txt")
    read(Path("new/a.txt"), 2, 1)
    assert events == [
        {"op": "write", "path": "new/a.txt", "chars": 600},
        {"op": "append", "path": "new/a.txt", "chars": 3},
        {"op": "read", "path": "new/a.txt", "chars": 603, "preview": long[:500]},
        {"op": "read", "path": "new/a.txt", "chars": 2, "preview": "b\n"},
    ]


def test_lines_past_the_end_are_none() -> None:
    write("a", "1\n2")
    assert (read("a", 3), read("a", 2, 0), read("a", 2, 9)) == ("", "", "2")


def test_the_mark_at_the_beginning_is_no_part_of_the_text() -> None:
    Path("a").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    assert (read("a"), read("a", 1, 1), read("a", 2)) == ("one\ntwo\n", "one\n", "two\n")


def test_home_is_understood(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    assert write("~/x", "1") == here / "x"
    assert read("~/x") == "1"


def test_a_part_of_a_large_file_is_read_without_holding_it() -> None:
    with open("large", "wb") as file:
        file.write(b"x" * 40_000_000 + b"\n")
        file.writelines(b"0123456789abcde\n" * 65536 for _ in range(40))
        file.write(b"the end\n")
    tracemalloc.start()
    try:
        assert read("large", 2 + 40 * 65536, 5) == "the end\n"
        assert read("large", 2, 2) == "0123456789abcde\n" * 2
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16_000_000


def test_an_address_is_read_by_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    # The bridge has tests of its own; here it matters what is asked of it.
    class Host:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, **arguments: Any) -> str:
            return f"{self.name} {arguments}\nsecond\nthird"

    monkeypatch.setattr(host_tools, "HostTool", Host)
    assert read("memory://notes") == "read {'path': 'memory://notes'}\nsecond\nthird"
    assert read("memory://notes", 2, 1) == "second\n"


def test_nothing_else_takes_an_address(here: Path) -> None:
    each_raises(
        ValueError,
        "is an address, not a file",
        lambda: write("artifact://3", "x"),
        lambda: append("memory://y", "x"),
        lambda: rm("file:///tmp"),
    )
    assert os.listdir(here) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a\0b", "has NUL bytes; Path('bad').read_bytes()"),
        (b"caf\xe9\n", "no UTF-8: it has the byte 0xe9"),
        (b"\xff\xfea\0", "UTF-16"),
    ],
)
def test_what_is_no_text_is_refused_with_what_to_do(content: bytes, words: str) -> None:
    Path("bad").write_bytes(content)
    each_raises(ValueError, f"^bad is .*{re.escape(words)}", lambda: read("bad"), lambda: read("bad", 1, 1))


def test_what_is_no_plain_file_is_refused(here: Path) -> None:
    os.mkfifo("pipe")
    each_raises(
        ValueError,
        "is no plain file but a pipe, a socket or a device",
        lambda: read("pipe"),
        lambda: write("pipe", "x"),
        lambda: append("pipe", "x"),
        lambda: read(os.devnull),
    )
    each_raises(
        IsADirectoryError,
        r"Is a folder, not a file; tree\(\)",
        lambda: read(here),
        lambda: write(here, "x"),
        lambda: append(here, "x"),
    )
    assert Path("pipe").is_fifo()


def test_a_missing_file_is_told_by_the_path_that_was_given(events: list[dict[str, Any]]) -> None:
    each_raises(FileNotFoundError, "'no/such'", lambda: read("no/such"), lambda: rm("no/such"), lambda: stat("no/such"))
    assert [event["error"] for event in events] == [
        "FileNotFoundError: [Errno 2] No such file or directory: 'no/such'"
    ] * 3


@pytest.mark.parametrize("path", [None, 3, b"a", ["a"]])
def test_what_is_no_path_is_refused(path: Any) -> None:
    each_raises(
        TypeError,
        "a path is a text or a Path, not ",
        lambda: read(path),
        lambda: write(path, ""),
        lambda: append(path, ""),
        lambda: rm(path),
        lambda: stat(path),
    )


@pytest.mark.parametrize(("path", "words"), [("", "is empty"), ("a\0b", r"'a\\x00b'"), ("\ud800", r"'\\ud800'")])
def test_what_can_be_no_name_is_refused(path: str, words: str) -> None:
    each_raises(ValueError, words, lambda: read(path), lambda: write(path, ""), lambda: rm(path), lambda: stat(path))


def test_more_lines_than_any_file_has_are_all_of_them() -> None:
    write("a", "1\n2\n")
    assert (read("a", 2, 10**30), read("a", 10**30)) == ("2\n", "")


def test_what_is_no_number_of_a_line_is_refused() -> None:
    write("a", "1\n")
    for offset in (0, -1):
        with pytest.raises(ValueError, match=f"offset is 1 or more, not {offset}"):
            read("a", offset)
    with pytest.raises(ValueError, match="limit is 0 or more, not -1"):
        read("a", 1, -1)
    for wrong in ("1", 1.0, True):
        with pytest.raises(TypeError, match="offset is a whole number"):
            read("a", wrong)  # type: ignore[arg-type]  # That is the point.


def test_only_text_is_written(here: Path) -> None:
    for wrong in (None, 3, ["a"]):
        with pytest.raises(TypeError, match="content is a text, not "):
            write("new/a", wrong)  # type: ignore[arg-type]  # That is the point.
    with pytest.raises(TypeError, match=r"not bytes; Path\(…\)\.write_bytes"):
        append("new/a", b"x")  # type: ignore[arg-type]  # That is the point.
    with pytest.raises(ValueError, match=r"new/a: '\\ud83d' at 1 is half of a character"):
        write("new/a", "x\ud83d")
    assert os.listdir(here) == []


def test_a_file_in_the_way_of_a_folder_is_told() -> None:
    write("a", "x")
    each_raises(
        NotADirectoryError, "'a/b", lambda: write("a/b", ""), lambda: write("a/b/c", ""), lambda: append("a/b", "")
    )
    assert read("a") == "x"


def test_files_links_and_folders_are_deleted(events: list[dict[str, Any]]) -> None:
    write("d/e/f", "1")
    os.symlink("d", "to_folder")
    os.symlink("nowhere", "dangling")
    events.clear()
    rm("to_folder")
    rm("dangling", recursive=True)
    with pytest.raises(IsADirectoryError, match="recursive=True deletes it with all in it: 'd'"):
        rm("d")
    assert Path("d/e/f").exists()
    rm("d", recursive=True)
    assert os.listdir() == []
    assert events[0] == {"op": "rm", "path": "to_folder", "recursive": False}
    assert events[3] == {"op": "rm", "path": "d", "recursive": True}


def test_the_working_folder_is_not_deleted(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("d/e/f", "1")
    monkeypatch.chdir("d/e")
    for path in (".", "..", here, here / "d" / "e", "/"):
        with pytest.raises(ValueError, match="is the working folder, or has it in it"):
            rm(path, recursive=True)
    assert (here / "d" / "e" / "f").exists()


def test_a_folder_is_deleted_from_where_there_is_none(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("d/f", "1")
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    rm(here / "d", recursive=True)
    assert os.listdir(here) == []


def test_what_a_file_is(events: list[dict[str, Any]]) -> None:
    write("a", "é\n")
    os.chmod("a", 0o4640)
    os.utime("a", (0, 1_700_000_000.25))
    events.clear()
    found = stat("a")
    moment = datetime.fromtimestamp(1_700_000_000.25, tz=UTC).isoformat(timespec="microseconds")
    assert found == {"path": "a", "size": 3, "is_file": True, "is_dir": False, "mtime": moment, "mode": "4640"}
    assert events == [{"op": "stat", "path": "a", "size": 3, "is_dir": False, "mtime": moment}]
    assert found["mode"] == answer("stat", "-c", "%04a", "a").strip()
    os.symlink(".", "link")
    assert (stat("link")["is_dir"], stat("link")["is_file"], stat("link")["path"]) == (True, False, "link")
