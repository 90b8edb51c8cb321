"""Files and folders are found by their names as `find`, `glob` and `pathlib` find them."""

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude import search
from pisces.guest.prelude.names import find, glob_files
from tests.unit.guest.prelude.counterparts import as_somebody_else, each_raises, public_folder

pytestmark = pytest.mark.processes

LOCALE = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}


def grown(paths: list[list[str]]) -> dict[str, Any]:
    """The tree of these files; where one would be in a file, it is a folder instead."""
    tree: dict[str, Any] = {}
    for *folders, name in sorted(paths, key=len, reverse=True):
        inner = tree
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner.setdefault(name, "")
    return tree


NAMES = ["a", "b", "ab", "a.py", "b.py", "c.txt", ".h", ".h.py", "é", "a b", "A", "[a]", "x\ny", "a-b", "a!", "*"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)
TREES = st.lists(PATHS, min_size=1, max_size=20).map(grown)
ODD_PATTERNS = st.lists(
    st.sampled_from(["*", "?", "[ab]", "[!a]", "[a-c]", "a", "b", ".", ".py", "h", "é", " ", "-", "[", "]"]),
    min_size=1,
    max_size=3,
).map("".join)
NAME_PATTERNS = st.one_of(
    st.sampled_from(["*", "*", "*.py", "a*", "?", ".*", ".h*", "[ab]*"]),
    st.sampled_from(NAMES).map(glob.escape),
    ODD_PATTERNS.filter(lambda part: part not in {".", ".."} and "**" not in part),
)
PATH_PATTERNS = st.lists(NAME_PATTERNS | st.just("**"), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for many examples, one after the other, in no repository."""
    return tmp_path_factory.mktemp("searching")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(path: Path, tree: Any) -> Path:
    """A folder with these names in it; what is no dict is what a file holds."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, inner in tree.items():
        if isinstance(inner, dict):
            plant(path / name, inner)
        else:
            (path / name).write_text(inner, encoding="utf-8")
    return path


def found_by_find(root: Path, *tests: str) -> set[str]:
    """What the command prints, relative to the folder."""
    command = ["find", ".", *tests, "-printf", "%P\\0"]
    done = subprocess.run(command, cwd=root, env=LOCALE, capture_output=True, check=True)
    return set(done.stdout.decode().split("\0")[:-1])


def below(root: Path, found: list[Path]) -> list[str]:
    return [path.relative_to(root).as_posix() for path in found]


@settings(max_examples=200)
@given(
    tree=TREES,
    pattern=NAME_PATTERNS,
    depths=st.tuples(st.none() | st.integers(0, 4), st.none() | st.integers(0, 4)),
    kind=st.sampled_from(["file", "dir", "any"]),
)
def test_names_are_found_as_find_finds_them(
    ground: Path, tree: dict[str, Any], pattern: str, depths: tuple[int | None, int | None], kind: str
) -> None:
    root = plant(ground / "t", tree)
    least, most = depths
    tests = ["-mindepth", str(max(least or 0, 1)), *(["-maxdepth", str(most)] if most is not None else [])]
    tests += {"file": ["-type", "f"], "dir": ["-type", "d"], "any": []}[kind]
    found = find(pattern, root, type=kind, hidden=True, mindepth=least, maxdepth=most)
    assert set(below(root, found)) == found_by_find(root, *tests, "-name", pattern)
    assert found == sorted(found)
    if not pattern.startswith("."):
        visible = find(pattern, root, type=kind, mindepth=least, maxdepth=most)
        assert visible == [path for path in found if not re.search(r"(^|/)\.", path.relative_to(root).as_posix())]


@settings(max_examples=300)
@given(tree=TREES, pattern=PATH_PATTERNS, hidden=st.booleans())
def test_globs_find_the_files_that_glob_finds(ground: Path, tree: dict[str, Any], pattern: str, hidden: bool) -> None:
    root = plant(ground / "t", tree)
    theirs = {
        os.path.normpath(path)
        for path in glob.glob(pattern, root_dir=root, recursive=True, include_hidden=hidden)
        if (root / path).is_file()
    }
    found = glob_files(pattern, root, hidden=hidden)
    assert set(below(root, found)) == theirs
    assert found == sorted(set(found))
    if "/" in pattern:
        assert find(pattern, root, hidden=hidden) == found


@settings(max_examples=200)
@given(tree=TREES, pattern=PATH_PATTERNS)
def test_globs_find_the_files_that_pathlib_finds(ground: Path, tree: dict[str, Any], pattern: str) -> None:
    root = plant(ground / "t", tree)
    # Releases of pathlib differ in whether a last `**` has files in it.
    theirs = {path for path in root.glob(f"{pattern}/*" if pattern.endswith("**") else pattern) if path.is_file()}
    assert set(glob_files(pattern, root, hidden=True)) == theirs


@pytest.mark.parametrize(
    ("pattern", "hidden", "expected"),
    [
        ("*.yml", False, ["a.yml"]),
        ("*.yml", True, [".b.yml", ".github/c.yml", ".github/flows/d.yml", "a.yml"]),
        (".b*", False, [".b.yml"]),
        (".github/*.yml", False, [".github/c.yml"]),
        (".github/**/*.yml", False, [".github/c.yml", ".github/flows/d.yml"]),
        ("./*.yml", False, ["a.yml"]),
        ("**/*.yml", False, ["a.yml"]),
    ],
)
def test_what_begins_with_a_dot_is_found_when_the_pattern_names_it(
    here: Path, pattern: str, hidden: bool, expected: list[str]
) -> None:
    plant(here / "t", {"a.yml": "", ".b.yml": "", ".github": {"c.yml": "", "flows": {"d.yml": ""}}})
    assert below(Path("t"), find(pattern, "t", hidden=hidden)) == expected


def test_a_pattern_that_ends_in_a_slash_finds_folders_only(here: Path) -> None:
    plant(here / "t", {"src": {"a": ""}, "x": {"src": ""}})
    assert find("src/", "t", type="any") == [Path("t/src")]
    assert find("src", "t", type="any") == [Path("t/src"), Path("t/x/src")]
    assert glob_files("src/", "t") == []


@pytest.mark.parametrize("given", [".", "./", "", "sub", "./sub/", "sub/../sub"])
def test_paths_can_be_used_at_once_from_the_working_folder(here: Path, given: str) -> None:
    plant(here / "t", {"a.py": "", "sub": {"a.py": "", "b.py": ""}})
    os.chdir("t")
    if not given:
        each_raises(ValueError, "empty", lambda: find("*", given))
        return
    found = find("b.py", given) + glob_files("**/b.py", given)
    assert [path.is_absolute() for path in found] == [False, False]
    assert [path.resolve() for path in found] == [here.resolve() / "t/sub/b.py"] * 2
    absolute = find("b.py", here / "t" / given)
    assert [path.is_absolute() for path in absolute] == [True]


def test_a_home_is_expanded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(plant(here / "home", {"a": ""})))
    assert find("*", "~") == [here / "home" / "a"]


def test_the_newest_come_first_and_the_limit_counts_after_that(here: Path, events: list[dict[str, Any]]) -> None:
    plant(here / "t", {"a": "", "b": "", "c": {"d": ""}, "e": ""})
    for number, name in enumerate(["e", "b", "c/d", "a"]):
        os.utime(here / "t" / name, ns=(0, 10**18 + number))
    os.utime(here / "t/b", ns=(0, 10**18))
    assert below(Path("t"), find("*", "t", sort_by_mtime=True)) == ["a", "c/d", "b", "e"]
    assert below(Path("t"), find("*", "t", sort_by_mtime=True, limit=2)) == ["a", "c/d"]
    assert below(Path("t"), find("*", "t", limit=2)) == ["a", "b"]
    assert find("*", "t", limit=0) == []
    assert [event["count"] for event in events] == [4, 2, 2, 0]


def test_what_finding_tells(here: Path, events: list[dict[str, Any]]) -> None:
    plant(here / "t", {f"{number:02}.py": "" for number in range(30)} | {"x": {"y.txt": ""}})
    find("*.py", "t")
    find("*.txt", Path("t"))
    glob_files("x/*", "./t")
    matches = [f"t/{number:02}.py" for number in range(20)]
    assert events == [
        {"op": "find", "pattern": "*.py", "path": "t", "count": 30, "matches": matches},
        {"op": "find", "pattern": "*.txt", "path": "t", "count": 1, "matches": ["t/x/y.txt"]},
        {"op": "glob", "pattern": "x/*", "path": "./t", "count": 1, "matches": ["t/x/y.txt"]},
    ]


def test_links_are_found_by_what_they_lead_to_and_are_not_followed(here: Path) -> None:
    plant(here / "t", {"d": {"a": ""}, "f": ""})
    for name, target in {"to_d": "d", "to_f": "f", "nowhere": "gone", "loop": "loop", "up": "."}.items():
        (here / "t" / name).symlink_to(target)
    assert below(Path("t"), find("*", "t")) == ["d/a", "f", "to_f"]
    assert below(Path("t"), find("*", "t", type="dir")) == ["d", "to_d", "up"]
    everything = ["d", "d/a", "f", "loop", "nowhere", "to_d", "to_f", "up"]
    assert below(Path("t"), find("*", "t", type="any")) == everything
    assert sorted(below(Path("t"), find("*", "t", type="any", sort_by_mtime=True))) == everything
    assert below(Path("t"), list(search.walk("t"))) == ["d/a", "f"]
    assert below(Path("t/up"), find("*", "t/up")) == ["d/a", "f", "to_f"]


def test_what_is_neither_file_nor_folder_is_found_as_any(here: Path) -> None:
    plant(here / "t", {})
    os.mkfifo("t/pipe")
    assert (find("*", "t"), find("*", "t", type="dir"), find("*", "t", type="any")) == ([], [], [Path("t/pipe")])


def test_folders_that_cannot_be_read_are_counted(here: Path, events: list[dict[str, Any]]) -> None:
    plant(here / "t", {"a": {"x": ""}, "b": {"x": ""}, "c": {"x": "", ".gitignore": "x"}})
    os.chmod("t/b", 0)
    os.chmod("t/c/.gitignore", 0)
    with public_folder(here / "t" / "a"), as_somebody_else():
        assert find("x", "t") == [Path("t/a/x"), Path("t/c/x")]
        assert list(search.walk("t")) == [Path("t/a/x"), Path("t/c/x")]
        assert find("x", "t/a") == [Path("t/a/x")]
        each_raises(PermissionError, "t/b", lambda: find("x", "t/b"))
    os.chmod("t/b", 0o700)
    assert [event.get("skipped") for event in events] == [2, None, None]


def test_names_that_are_no_utf_8_are_found(here: Path) -> None:
    root = os.fsencode(here)
    for name in (b"a\xff.py", b"b\xfe", b"\xff.skip"):
        with open(os.path.join(root, name), "wb"):
            pass
    with open(os.path.join(root, b".gitignore"), "wb") as file:
        file.write(b"\xff*\nb[\xfe]\n")
    assert [os.fsencode(path) for path in find("*")] == [b"a\xff.py"]
    assert [os.fsencode(path) for path in glob_files("*.py")] == [b"a\xff.py"]


def test_a_tree_that_is_deeper_than_python_can_recurse_is_walked(here: Path) -> None:
    depth = 1500
    folders: list[int] = [os.open(".", os.O_RDONLY)]
    for _ in range(depth):
        os.mkdir("d", dir_fd=folders[-1])
        folders.append(os.open("d", os.O_RDONLY, dir_fd=folders[-1]))
        os.close(folders.pop(0))
    os.close(folders.pop())
    try:
        (found,) = find("d", type="any", mindepth=depth)
    finally:
        subprocess.run(["rm", "-rf", "d"], check=True)  # Python's own way recurses.
    assert len(found.parts) == depth


BAD_CALLS: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "no folder": (FileNotFoundError, "'gone'", lambda: find("*", "gone")),
    "a file": (NotADirectoryError, "f is a file", lambda: find("*", "f")),
    "below a file": (NotADirectoryError, "f/x", lambda: find("*", "f/x")),
    "glob in no folder": (FileNotFoundError, "'gone'", lambda: glob_files("*", "gone")),
    "glob in a file": (NotADirectoryError, "f is a file", lambda: glob_files("*", "f")),
    "walk in no folder": (FileNotFoundError, "'gone'", lambda: search.walk("gone")),
    "no path": (TypeError, "None", lambda: find("*", None)),  # type: ignore[arg-type]  # what a user may do
    "a NUL": (ValueError, "no file", lambda: find("*", "a\0b")),
    "an address": (ValueError, "artifact://3", lambda: find("*", "artifact://3")),
    "empty": (ValueError, "pattern is empty", lambda: find("")),
    "empty glob": (ValueError, "pattern is empty", lambda: glob_files("")),
    "no text": (TypeError, "pattern is a text", lambda: find(b"*")),  # type: ignore[arg-type]  # what a user may do
    "absolute": (ValueError, "'/etc/\\*'.*as `path`", lambda: glob_files("/etc/*")),
    "upwards": (ValueError, "'../\\*'.*as `path`", lambda: find("../*")),
    "only dots": (ValueError, "'\\./'", lambda: find("./")),
    "type": (ValueError, "'file', 'dir' or 'any', not 'link'", lambda: find("*", type="link")),
    "limit": (ValueError, "limit is 0 or more, not -1", lambda: find("*", limit=-1)),
    "no limit": (TypeError, "limit", lambda: find("*", limit=None)),  # type: ignore[arg-type]  # what a user may do
    "maxdepth": (ValueError, "maxdepth is 0 or more", lambda: find("*", maxdepth=-1)),
    "mindepth": (TypeError, "mindepth", lambda: find("*", mindepth=1.5)),  # type: ignore[arg-type]  # what a user may do
}


@pytest.mark.parametrize("case", sorted(BAD_CALLS))
def test_what_cannot_be_searched_is_one_clear_error(here: Path, events: list[dict[str, Any]], case: str) -> None:
    (here / "f").write_text("x", encoding="utf-8")
    kind, words, call = BAD_CALLS[case]
    each_raises(kind, words, call)
    assert [event["error"].startswith(kind.__name__) for event in events] == [True] * (case != "walk in no folder")
