"""Texts and matches are replaced as `sed` and Python's own methods do it."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pisces.guest.prelude.names import replace, rsed, sed, write
from tests.unit.guest.prelude.counterparts import (
    PLAIN,
    TEXTS,
    answer,
    as_somebody_else,
    each_raises,
    public_folder,
    put,
)

pytestmark = pytest.mark.processes

LF_TEXTS = TEXTS.map(lambda text: text.replace("\r", ""))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replacing") / "a.txt"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@settings(max_examples=80)
@given(
    text=LF_TEXTS,
    pattern=st.sampled_from(["a", "^a", "b$", "a|b", "(a)(b)", "[ab]+", "é", "^a b$", "a{2}", "."]),
    repl=st.sampled_from(["", "x", "éé", "a"]),
)
@example(text="b\na\na", pattern="^a", repl="x")
def test_matches_are_replaced_as_sed_does(file: Path, text: str, pattern: str, repl: str) -> None:
    put(file, text)
    expected = answer("env", "LC_ALL=C.UTF-8", "sed", "-E", f"s/{pattern}/{repl}/g", str(file))
    count = sed(file, pattern, repl)
    assert file.read_bytes().decode() == expected
    assert count == len(re.findall(pattern, text, re.MULTILINE))


@given(text=LF_TEXTS, pattern=st.text("ab \n", min_size=1, max_size=2), repl=st.text("xa\\1\n", max_size=3))
def test_a_text_is_replaced_literally(file: Path, text: str, pattern: str, repl: str) -> None:
    put(file, text)
    assert replace(file, pattern, repl) == text.count(pattern)
    assert file.read_bytes().decode() == text.replace(pattern, repl)


@given(
    text=LF_TEXTS,
    pattern=st.sampled_from(["a", "a\nb", "a.*", "$", "\\n", "^", "a\n", "[^a]"]),
    repl=st.sampled_from(["", "x", "\n", "x\ny\n"]),
)
@example(text="a\nb\n", pattern="a", repl="x\ny")
def test_lines_that_end_in_crlf_are_edited_like_others_and_keep_their_ends(
    file: Path, text: str, pattern: str, repl: str
) -> None:
    if "\n" not in text:
        text += "\n"
    for call in (sed, replace):
        put(file, text)
        expected = call(file, pattern, repl)
        wanted = file.read_bytes().replace(b"\n", b"\r\n")
        put(file, text.replace("\n", "\r\n"))
        assert call(file, pattern, repl) == expected
        assert file.read_bytes() == wanted


def test_a_carriage_return_is_taken_as_it_is_when_it_is_asked_for() -> None:
    Path("a").write_bytes(b"a\r\nb\r\n")
    assert sed("a", r"\r$", "") == 2
    assert Path("a").read_bytes() == b"a\nb\n"
    Path("a").write_bytes(b"a\r\nb\r\n")
    assert replace("a", "\r\n", "\n") == 2


def test_what_is_told(events: list[dict[str, Any]]) -> None:
    write("d/a", "x x\n")
    write("d/b", "x\n")
    events.clear()
    assert sed("d/a", "X", "y", flags=re.IGNORECASE) == 2
    assert replace("d/a", r"(y) (y)", r"\2-\1", regex=True) == 1
    assert rsed("x|y", "z", "d") == 3
    assert rsed("nothing", "z", "d", glob_pattern="*.py") == 0
    assert events == [
        {"op": "sed", "path": "d/a", "count": 2},
        {"op": "replace", "path": "d/a", "count": 1},
        {
            "op": "rsed",
            "path": "d",
            "count": 3,
            "files": 2,
            "changed": [{"file": "d/a", "count": 2}, {"file": "d/b", "count": 1}],
        },
        {"op": "rsed", "path": "d", "count": 0, "files": 0, "changed": []},
    ]


def test_ten_of_many_changed_files_are_told(events: list[dict[str, Any]]) -> None:
    for number in range(12):
        write(f"d/{number:02}", "x")
    assert rsed("x", "y", "d") == 12
    assert (events[-1]["files"], len(events[-1]["changed"])) == (12, 10)


def test_a_function_can_say_what_to_replace_a_match_by() -> None:
    write("a", "1 2\n")
    assert sed("a", r"\d", lambda match: str(int(match[0]) + 1)) == 2  # type: ignore[arg-type]  # As in `re`.
    assert Path("a").read_bytes() == b"2 3\n"


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfone\n", b"one"])
def test_the_mark_and_a_missing_end_stay(content: bytes) -> None:
    Path("a").write_bytes(content)
    sed("a", "^one$", "1")
    assert Path("a").read_bytes() == content.replace(b"one", b"1")


def test_a_file_in_which_nothing_changes_is_not_written() -> None:
    write("a", "x\n")
    before = os.stat("a")
    assert (replace("a", "y", "z"), sed("a", "y", "z"), rsed("y", "z")) == (0, 0, 0)
    assert (replace("a", "x", "x"), sed("a", "x", "x")) == (1, 1)
    assert os.stat("a") == before


def test_below_a_folder_the_files_are_edited_that_git_sees_and_that_are_text(here: Path) -> None:
    subprocess.run(["git", "init", "-q"], check=True, env=PLAIN | {"HOME": str(here)})
    write(".gitignore", "ignored\n")
    kept = {"bin": b"x\0", "latin": b"x\xe9", "ignored": b"x", ".hidden": b"x", "d/.git/x": b"x"}
    for name, content in kept.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    write("d/a.py", "x")
    write("b.txt", "x")
    os.symlink("b.txt", "link")
    assert rsed("x", "xx") == 2
    assert (Path("d/a.py").read_bytes(), Path("b.txt").read_bytes()) == (b"xx", b"xx")
    assert {name: Path(name).read_bytes() for name in kept} == kept
    assert Path("link").is_symlink()
    assert rsed("x", "y", glob_pattern="*.py") == 2
    assert rsed("x", "y", hidden=True, glob_pattern=".hidden") == 1


def test_one_file_can_be_named_in_place_of_a_folder() -> None:
    write("a", "x")
    assert rsed("x", "y", "a") == 1


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_done(
    here: Path, events: list[dict[str, Any]]
) -> None:
    for name in ("a", "b", "c"):
        write(f"d/{name}", "x")
        os.chmod(f"d/{name}", 0o666)
    os.chmod("d/b", 0o444)
    os.chmod("d", 0o777)
    with (
        public_folder(here / "d" / "a"),
        as_somebody_else(),
        pytest.raises(OSError, match=r"d: 2 replacements were made in 2 files, but not in .*'d/b'"),
    ):
        rsed("x", "y", "d")
    assert [Path(f"d/{name}").read_bytes() for name in "abc"] == [b"y", b"x", b"y"]
    assert (events[-1]["count"], events[-1]["files"]) == (2, 2)


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "replace": replace,
    "sed": sed,
    "rsed": lambda path, pattern, repl: rsed(pattern, repl, path),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_what_cannot_be_done_is_refused_and_the_file_stays(name: str) -> None:
    call = CALLS[name]
    write("d/a", "x(")
    path = "d" if name == "rsed" else "d/a"
    with pytest.raises(FileNotFoundError, match=r"no/such"):
        call("no/such", "x", "y")
    with pytest.raises(TypeError, match="a path is a text or a Path"):
        call(None, "x", "y")
    with pytest.raises(ValueError, match="the path is empty"):
        call("", "x", "y")
    with pytest.raises(ValueError, match="is an address"):
        call("memory://x", "x", "y")
    with pytest.raises(ValueError, match="the pattern is empty"):
        call(path, "", "y")
    with pytest.raises(TypeError, match="the pattern is a text, not int"):
        call(path, 3, "y")
    with pytest.raises(TypeError, match="repl is a text, not NoneType"):
        call(path, "x", None)
    with pytest.raises(ValueError, match="half of a character"):
        call(path, "x", "\ud800")
    assert Path("d/a").read_bytes() == b"x("
    assert os.listdir("d") == ["a"]


@pytest.mark.parametrize(
    ("pattern", "repl", "words"),
    [
        ("(", "y", r"'\(' does not compile: missing \)"),
        ("a{99999999999}", "y", "does not compile"),
        ("x", r"\1", r"'\\\\1' cannot replace 'x': invalid group reference 1"),
        ("x", r"\g<no>", "cannot replace 'x': unknown group name 'no'"),
        ("x", "\\q", r"cannot replace 'x': bad escape \\q"),
    ],
)
def test_a_pattern_that_does_not_compile_is_named(
    pattern: str, repl: str, words: str, events: list[dict[str, Any]]
) -> None:
    write("a", "x(")
    events.clear()
    each_raises(
        ValueError,
        words,
        lambda: sed("a", pattern, repl),
        lambda: rsed(pattern, repl),
        lambda: replace("a", pattern, repl, regex=True),
    )
    assert [event["error"].split(":")[0] for event in events] == ["ValueError"] * 3
    assert Path("a").read_bytes() == b"x("
    with pytest.raises(ValueError, match="is compiled already"):
        sed("a", re.compile("x"), "y", flags=re.IGNORECASE)  # type: ignore[arg-type]  # That is the point.


def test_a_binary_file_is_refused_and_stays(here: Path) -> None:
    Path("bad").write_bytes(b"x\0")
    each_raises(
        ValueError, "bad is no text: it has NUL bytes", lambda: sed("bad", "x", "y"), lambda: replace("bad", "x", "y")
    )
    each_raises(IsADirectoryError, "Is a folder", lambda: sed(here, "x", "y"), lambda: replace(here, "x", "y"))
    assert Path("bad").read_bytes() == b"x\0"
