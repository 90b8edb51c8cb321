"""Lines are found by what is in them as `grep` and `git grep` find them."""

import os
import re
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude.names import grep, rgrep
from tests.unit.guest.prelude.counterparts import TEXTS, as_somebody_else, each_raises, public_folder, put
from tests.unit.guest.prelude.ignored_trees import make_repository

pytestmark = pytest.mark.processes

LOCALE = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
ATOMS = st.sampled_from(["a", "b", "B", "é", ".", "[ab]", "[^a]", "(a|b)", "(ab|é)", " ", "漢", "x", r"\."])
PIECES = st.builds(str.__add__, ATOMS, st.sampled_from(["", "", "*", "+", "?", "{2}"]))
EXPRESSIONS = st.builds(
    lambda start, pieces, end: start + "".join(pieces) + end,
    st.sampled_from(["", "", "^"]),
    st.lists(PIECES, max_size=3),
    st.sampled_from(["", "", "$"]),
)
MANY_LINES = st.lists(
    st.sampled_from(["a", "b", "A", "ab", "aB x", "é", "É", "x", "", ".", "xx"]), min_size=5, max_size=30
)
PLAIN_TEXTS = TEXTS.map(lambda text: text.replace("\r", "")) | MANY_LINES.map("\n".join)
"""Without carriage returns: to `grep` they are part of a line, and here they are part of its end."""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for many examples, one after the other."""
    return tmp_path_factory.mktemp("lines")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found_by_grep(file: Path, *options: str) -> list[tuple[int, str]]:
    """The numbers and lines that the command prints, without the marks between groups."""
    done = subprocess.run(["grep", "-a", "-n", *options, str(file)], env=LOCALE, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    printed = [line for line in done.stdout.decode().split("\n")[:-1] if line != "--"]
    return [(int(number), text) for number, text in (re.split("[:-]", line, maxsplit=1) for line in printed)]


@settings(max_examples=300)
@given(text=PLAIN_TEXTS, pattern=EXPRESSIONS, ignore_case=st.booleans(), context=st.integers(0, 3))
def test_lines_are_found_as_grep_finds_them(
    ground: Path, text: str, pattern: str, ignore_case: bool, context: int
) -> None:
    file = put(ground / "a.txt", text)
    options = ["-E", "-C", str(context), *(["-i"] if ignore_case else []), "-e", pattern]
    assert grep(pattern, file, ignore_case=ignore_case, context=context) == found_by_grep(file, *options)


@settings(max_examples=100)
@given(text=PLAIN_TEXTS, pattern=st.text("aBbé. *\\[", max_size=2), ignore_case=st.booleans())
def test_literals_are_found_as_grep_finds_them(ground: Path, text: str, pattern: str, ignore_case: bool) -> None:
    file = put(ground / "a.txt", text)
    options = ["-F", *(["-i"] if ignore_case else []), "-e", pattern]
    assert grep(pattern, file, literal=True, ignore_case=ignore_case) == found_by_grep(file, *options)


@settings(max_examples=60)
@given(
    texts=st.lists(PLAIN_TEXTS, min_size=9, max_size=9),
    pattern=EXPRESSIONS.filter(bool),
    glob_pattern=st.sampled_from(["*", "*.py", "a*"]),
    rules=st.lists(st.sampled_from(["*.txt", "!d.txt", "sub", "/b.py", "sub/*", "a.*"]), max_size=3),
)
def test_lines_below_a_folder_are_found_as_git_grep_finds_them(
    ground: Path, texts: list[str], pattern: str, glob_pattern: str, rules: list[str]
) -> None:
    root = ground / "repository"
    if not root.exists():
        make_repository(root)
        (root / "sub").mkdir()
    names = ["a.py", "b.py", "c.txt", "d.txt", "e", "sub/a.py", "sub/b.txt", "sub/d.txt", "sub/f"]
    for name, text in zip(names, texts, strict=True):
        put(root / name, text)
    (root / "binary.py").write_bytes(b"a\0b\naa\n")
    put(root / ".gitignore", "\n".join(rules) + "\n")
    command = ["git", "grep", "--untracked", "-I", "-n", "-z", "-E", "-e", pattern, "--", f":(glob)**/{glob_pattern}"]
    done = subprocess.run(command, cwd=root, env=LOCALE, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    parts = [line.split("\0") for line in done.stdout.decode().split("\n")[:-1]]
    theirs = sorted((root / path, int(number), text) for path, number, text in parts if path != ".gitignore")
    assert rgrep(pattern, root, glob_pattern=glob_pattern, limit=10**6) == theirs


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [(1, "")]),
        (b"a", [(1, "a")]),
        (b"a\r\nb\r\n", [(1, "a"), (2, "b")]),
        (b"a\rb\nc\r", [(1, "a\rb"), (2, "c\r")]),
        ("a\x0bb\x0cc\x85d\u2028e\n".encode(), [(1, "a\x0bb\x0cc\x85d\u2028e")]),
        (b"a\xffb\n\xe9\n", [(1, "a\ufffdb"), (2, "\ufffd")]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [(1, "a"), (2, "\ufeffb")]),
    ],
    ids=["empty", "one end", "no end", "CRLF", "CR", "other breaks", "no UTF-8", "marks"],
)
def test_an_empty_pattern_gives_all_lines_which_end_at_line_feeds(
    here: Path, content: bytes, expected: list[tuple[int, str]]
) -> None:
    Path("f").write_bytes(content)
    assert grep("", "f") == expected
    assert rgrep("", ".") == [(Path("f"), *line) for line in expected]
    assert grep("", "f", ignore_case=True) == grep("", "f", literal=True) == expected


def test_the_end_of_a_line_is_before_a_carriage_return(here: Path) -> None:
    Path("f").write_bytes(b"ab\r\nabc\r\n")
    assert grep("b$", "f") == [(1, "ab")]
    assert grep(r"\s", "f") == []


def test_a_pattern_may_be_compiled_already(here: Path) -> None:
    Path("f").write_bytes(b"ab\nAB\n")
    assert grep(re.compile("ab", re.IGNORECASE), "f") == [(1, "ab"), (2, "AB")]  # type: ignore[arg-type]  # also taken


def test_what_finding_lines_tells(here: Path, events: list[dict[str, Any]]) -> None:
    long = "x" * 150
    put(here / "f", "".join(f"{number} {long}\nother\n" for number in range(1, 13)))
    grep("x", "f", context=1)
    assert len(grep("x", Path("f"))) == 12
    rgrep("x", ".", limit=11)
    lines = range(1, 21, 2)
    hits = [{"line": line, "text": f"{number} {long}"[:100]} for number, line in enumerate(lines, 1)]
    assert events[:2] == [{"op": "grep", "pattern": "x", "path": "f", "count": 12, "hits": hits}] * 2
    hits = [{"file": "f", "line": line, "text": f"{number} {long}"[:80]} for number, line in enumerate(lines, 1)]
    assert events[2:] == [{"op": "rgrep", "pattern": "x", "path": ".", "count": 11, "hits": hits}]


def test_files_are_read_until_the_limit_is_reached(here: Path, events: list[dict[str, Any]]) -> None:
    (here / "t").mkdir()
    for name in "abc":
        put(here / "t" / name, "hit\nhit\n")
    os.chmod("t/b", 0)
    with public_folder(here / "t"), as_somebody_else():
        assert rgrep("hit", "t", limit=2) == [(Path("t/a"), 1, "hit"), (Path("t/a"), 2, "hit")]
        assert rgrep("hit", "t", limit=3)[2:] == [(Path("t/c"), 1, "hit")]
        each_raises(PermissionError, "'t/b'", lambda: grep("hit", "t/b"))
    assert rgrep("hit", limit=0) == []
    assert [event.get("skipped") for event in events] == [None, 1, None, None]


def test_one_file_can_be_given_instead_of_a_folder(here: Path) -> None:
    put(here / ".gitignore", "f\n")
    put(here / "f", "hit\n")
    assert rgrep("hit", "f") == [(Path("f"), 1, "hit")]
    assert rgrep("hit", ".") == []


def test_hidden_files_links_and_pipes_are_left_out(here: Path) -> None:
    put(here / ".env", "hit\n")
    put(here / "f", "hit\n")
    (here / "link").symlink_to("f")
    os.mkfifo("pipe")
    assert rgrep("hit") == [(Path("f"), 1, "hit")]
    assert rgrep("hit", hidden=True) == [(Path(".env"), 1, "hit"), (Path("f"), 1, "hit")]
    assert rgrep("hit", glob_pattern=".env") == [(Path(".env"), 1, "hit")]


def test_a_large_file_is_not_held_in_memory(here: Path) -> None:
    block = b"".join(b"%d words in a line that nobody looks for\n" % number for number in range(5000))
    with open("f", "wb") as file:
        file.writelines(block for _ in range(50))
        file.write(b"needle\n")
    tracemalloc.start()
    try:
        found = grep("needle", "f", context=1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [number for number, _ in found] == [250_000, 250_001]
    assert most < len(block) * 5 < os.path.getsize("f") / 5


def test_a_line_of_many_megabytes_is_found(here: Path) -> None:
    with open("f", "wb") as file:
        file.write(b"x" * 30_000_000 + b"needle\nsecond\n")
    (found,) = grep("needle", "f")
    assert (found[0], len(found[1])) == (1, 30_000_006)
    assert rgrep("second") == [(Path("f"), 2, "second")]


BAD_CALLS: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "no file": (FileNotFoundError, "'gone'", lambda: grep("x", "gone")),
    "a folder": (IsADirectoryError, "'d'", lambda: grep("x", "d")),
    "binary": (ValueError, "binary is no text", lambda: grep("x", "binary")),
    "binary alone": (ValueError, "binary is no text", lambda: rgrep("x", "binary")),
    "a pipe": (ValueError, "pipe is no plain file", lambda: grep("x", "pipe")),
    "no folder": (FileNotFoundError, "'gone'", lambda: rgrep("x", "gone")),
    "no expression": (ValueError, r"'\(x'.*unterminated", lambda: grep("(x", "f")),
    "no expression below": (ValueError, r"'\(x'.*unterminated", lambda: rgrep("(x")),
    "too many": (ValueError, r"'x\{99999999999\}'", lambda: grep("x{99999999999}", "f")),
    "no pattern": (TypeError, "pattern is a text", lambda: grep(None, "f")),  # type: ignore[arg-type]  # a user may
    "bytes": (TypeError, "pattern is a text", lambda: rgrep(b"x")),  # type: ignore[arg-type]  # a user may
    "two lines": (ValueError, r"'a\\nb'.*more than one line", lambda: grep("a\nb", "f", literal=True)),
    "context": (ValueError, "context is 0 or more", lambda: grep("x", "f", context=-1)),
    "limit": (ValueError, "limit is 0 or more", lambda: rgrep("x", limit=-1)),
    "no glob": (ValueError, "pattern is empty", lambda: rgrep("x", glob_pattern="")),
    "an address": (ValueError, "artifact://3", lambda: grep("x", "artifact://3")),
}


@pytest.mark.parametrize("case", sorted(BAD_CALLS))
def test_what_cannot_be_searched_is_one_clear_error(here: Path, events: list[dict[str, Any]], case: str) -> None:
    put(here / "f", "x\n")
    (here / "d").mkdir()
    (here / "binary").write_bytes(b"x\0\n")
    os.mkfifo("pipe")
    kind, words, call = BAD_CALLS[case]
    each_raises(kind, words, call)
    assert [event["error"].startswith(kind.__name__) for event in events] == [True]
