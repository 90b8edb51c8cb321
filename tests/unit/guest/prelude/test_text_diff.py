"""A diff is that of `diff -u`: `patch` makes the one file of the other with it, and none is shorter."""

import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude.names import diff, write
from pisces.guest.prelude.shortest_edit import changes
from tests.unit.guest.prelude.counterparts import PLAIN, TEXTS, answer, each_raises, put

pytestmark = pytest.mark.processes

FEW = st.lists(st.sampled_from(["a", "b", "c", "", "a\r", "-- x", "++ y", "@@ -1 +1 @@", "\\ No", "é"]), max_size=24)
ENDS = st.sampled_from(["", "\n"])
REPEATING = st.builds(lambda lines, end: "\n".join(lines) + end, FEW, ENDS)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("diff")


@pytest.fixture(autouse=True)
def here(ground: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ground)
    return ground


def theirs(*options: str) -> str:
    """What `diff` says, without the dates."""
    done = subprocess.run(["diff", "-u", *options, "a", "b"], env=PLAIN, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    head, mark, rest = done.stdout.decode().partition("@@")
    return "\n".join(line.split("\t")[0] for line in head.split("\n")) + mark + rest


def edited(text: str) -> int:
    """How many lines a diff takes out and puts in."""
    return sum(line.startswith(("-", "+")) for line in text.split("\n")[2:])


@settings(max_examples=80)
@given(old=REPEATING | TEXTS, new=REPEATING | TEXTS)
def test_patch_makes_the_one_of_the_other_and_no_diff_is_shorter(old: str, new: str) -> None:
    put(Path("a"), old)
    put(Path("b"), new)
    found = diff("a", "b")
    assert (found == "") == (old == new)
    assert edited(found) == edited(theirs("--minimal"))
    if found:
        answer("patch", "-p0", "-s", "--binary", "-o", "made", "a", given=found)
        assert Path("made").read_bytes() == new.encode()


@settings(max_examples=80)
@given(
    size=st.integers(0, 40),
    edits=st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["take out", "put in", "replace"])), max_size=6),
    ends=st.tuples(ENDS, ENDS),
)
def test_it_is_what_diff_says_where_there_is_but_one_answer(
    size: int, edits: list[tuple[int, str]], ends: tuple[str, str]
) -> None:
    old = [f"line {number}" for number in range(size)]
    new = list(old)
    for number, (at, how) in enumerate(edits):
        place = min(at, len(new))
        new[place : place + (how != "put in")] = [] if how == "take out" else [f"new {number}"]
    put(Path("a"), "\n".join(old) + ends[0])
    put(Path("b"), "\n".join(new) + ends[1])
    assert diff("a", "b") == theirs()


@settings(max_examples=20)
@given(old=REPEATING, new=REPEATING)
def test_git_takes_it_too(ground: Path, old: str, new: str) -> None:
    put(Path("a"), old)
    put(Path("b"), new)
    found = diff("a", "b")
    if found and old and new:  # Without lines git takes it for a file that is made or deleted.
        folder = ground / "work"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        put(folder / "b", old)
        subprocess.run(
            ["git", "apply", "-p0", "--whitespace=nowarn"],
            input=found.encode(),
            env=PLAIN | {"GIT_CEILING_DIRECTORIES": str(ground)},
            cwd=folder,
            check=True,
        )
        assert (folder / "b").read_bytes() == new.encode()


def test_what_is_told(events: list[dict[str, Any]]) -> None:
    write("a", "1\n2\n")
    write("b", "1\n3")
    events.clear()
    expected = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n\\ No newline at end of file\n"
    assert diff("a", Path("b")) == expected
    assert diff("a", "a") == ""
    assert events == [
        {"op": "diff", "file_a": "a", "file_b": "b", "identical": False, "preview": expected},
        {"op": "diff", "file_a": "a", "file_b": "a", "identical": True, "preview": ""},
    ]


@pytest.mark.parametrize("name", ["x y", 'x"y', "t\tz\\é", "é", "new\nline"])
def test_names_are_quoted_as_diff_quotes_them(name: str) -> None:
    put(Path(name), "1\n")
    put(Path("b"), "2\n")
    found = diff(name, "b")
    theirs_of_it = subprocess.run(["diff", "-u", name, "b"], env=PLAIN, capture_output=True, check=False).stdout
    assert found.split("\n")[0] == theirs_of_it.decode().split("\n")[0].split("\t")[0]
    os.unlink("b")  # Of two that are there it would take the one with the shorter name.
    answer("patch", "-p0", "-s", given=found)
    assert Path(name).read_bytes() == b"2\n"
    os.unlink(name)


def test_of_binary_files_it_is_said_that_they_differ() -> None:
    Path("a").write_bytes(b"x\0y")
    put(Path("b"), "x")
    assert diff("a", "b") == theirs() == "Binary files a and b differ\n"
    assert diff("a", "a") == ""


def test_large_texts_that_are_much_alike_are_compared_exactly() -> None:
    numbers = random.Random(7)
    old = [numbers.choice(["}\n", "\n", "return x\n", f"line {number}\n"]) for number in range(50_000)]
    new = list(old)
    for place in (100, 20_000, 49_000):
        new[place] = f"changed {place}\n"
    found = changes(old, new)
    assert found == [(place, place + 1, place, place + 1) for place in (100, 20_000, 49_000)]


@pytest.mark.parametrize("kinds", [2, 50, 100_000])
def test_texts_with_too_many_changes_still_get_an_answer_that_is_right(kinds: int) -> None:
    numbers = random.Random(kinds)
    old = [f"{numbers.randrange(kinds)}\n" for _ in range(6000)]
    new = [f"{numbers.randrange(kinds)}\n" for _ in range(6000)]
    made: list[str] = []
    at = 0
    for change in changes(old, new):
        made += old[at : change.old_start] + new[change.new_start : change.new_end]
        at = change.old_end
    assert made + old[at:] == new


def test_what_cannot_be_compared_is_told(here: Path) -> None:
    put(Path("a"), "x\n")
    Path("latin").write_bytes(b"\xe9\n")
    nothing: Any = None
    each_raises(FileNotFoundError, "'no/such'", lambda: diff("a", "no/such"), lambda: diff("no/such", "a"))
    each_raises(IsADirectoryError, "Is a folder", lambda: diff("a", here), lambda: diff(here, "a"))
    each_raises(ValueError, "latin is no UTF-8", lambda: diff("a", "latin"), lambda: diff("latin", "a"))
    each_raises(TypeError, "a path is a text or a Path", lambda: diff(nothing, "a"), lambda: diff("a", nothing))
    each_raises(ValueError, "the path is empty", lambda: diff("", "a"))
    each_raises(ValueError, "is no plain file", lambda: diff("a", os.devnull))
