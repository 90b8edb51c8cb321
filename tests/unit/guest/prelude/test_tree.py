"""A folder is drawn with all that is in it, by name."""

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pisces.guest.prelude.names import find, tree
from tests.unit.guest.prelude.counterparts import as_somebody_else, each_raises, public_folder

EVERYTHING = ["a/b/c/d/deep", "a/b/x", "a/y", "B/only", "z", ".hidden/inside", "é.txt", "skipped/x", ".env"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    return tmp_path


@pytest.fixture
def grown(here: Path) -> Path:
    for name in EVERYTHING:
        path = here / "t" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (here / "t" / "empty").mkdir()
    (here / "t" / ".gitignore").write_text("skipped/\n", encoding="utf-8")
    return here / "t"


def drawn(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def test_a_folder_is_drawn_by_name_three_levels_deep(grown: Path, events: list[dict[str, Any]]) -> None:
    expected = drawn("""
        t/
        ├── B/
        │   └── only
        ├── a/
        │   ├── b/
        │   │   ├── c/
        │   │   └── x
        │   └── y
        ├── empty/
        ├── z
        └── é.txt
    """)
    assert tree("t") == expected
    assert events == [{"op": "tree", "path": "t", "entries": 10, "preview": expected}]


def test_all_of_it_is_drawn_when_it_is_asked_for(grown: Path) -> None:
    assert tree("t", max_depth=9, show_hidden=True) == drawn("""
        t/
        ├── .env
        ├── .gitignore
        ├── .hidden/
        │   └── inside
        ├── B/
        │   └── only
        ├── a/
        │   ├── b/
        │   │   ├── c/
        │   │   │   └── d/
        │   │   │       └── deep
        │   │   └── x
        │   └── y
        ├── empty/
        ├── z
        └── é.txt
    """)


@pytest.mark.parametrize("depth", [1, 2, 4, 5])
def test_each_thing_that_find_finds_is_on_one_line(grown: Path, events: list[dict[str, Any]], depth: int) -> None:
    found = find("*", "t", type="any", maxdepth=depth)
    first, *lines = tree("t", max_depth=depth).split("\n")
    assert first == "t/"
    assert [line.split("── ")[1].rstrip("/") for line in lines] == [path.name for path in found]
    assert [line.index("── ") // 4 + 1 for line in lines] == [len(path.parts) - 1 for path in found]
    assert events[-1]["entries"] == len(found)


def test_an_empty_folder_is_a_line(here: Path, events: list[dict[str, Any]]) -> None:
    assert tree() == "./"
    assert events == [{"op": "tree", "path": ".", "entries": 0, "preview": "./"}]


def test_links_say_where_they_lead_and_are_not_followed(here: Path) -> None:
    (here / "d").mkdir()
    (here / "d" / "up").symlink_to("..")
    (here / "gone").symlink_to("nowhere")
    assert tree(str(here)).split("\n")[1:] == ["├── d/", "│   └── up -> ..", "└── gone -> nowhere"]


def test_a_name_is_on_one_line_whatever_is_in_it(here: Path) -> None:
    for name in (b"a\nb", b"c\x1b[31m", b"d\xff", "ö\u202e".encode()):
        with open(os.path.join(os.fsencode(here), name), "wb"):
            pass
    assert tree().split("\n") == ["./", r"├── a\nb", r"├── c\x1b[31m", r"├── d\udcff", r"└── ö\u202e"]


def test_a_folder_that_cannot_be_read_says_so(grown: Path, events: list[dict[str, Any]]) -> None:
    os.chmod("t/a/b", 0)
    with public_folder(grown / "a"), as_somebody_else():
        lines = tree("t").split("\n")
    os.chmod("t/a/b", 0o700)
    assert "│   ├── b/ (cannot be read)" in lines
    assert "│   └── y" in lines
    assert events[-1]["skipped"] == 1


def test_the_preview_is_cut(here: Path, events: list[dict[str, Any]]) -> None:
    for number in range(200):
        (here / f"file-{number}").touch()
    text = tree()
    assert len(text) > 1000
    assert (events[0]["entries"], events[0]["preview"]) == (200, text[:1000])


BAD_CALLS: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "a file": (NotADirectoryError, "f is a file", lambda: tree("f")),
    "nothing": (FileNotFoundError, "'gone'", lambda: tree("gone")),
    "no depth": (ValueError, "max_depth is 1 or more, not 0", lambda: tree(max_depth=0)),
    "any depth": (TypeError, "max_depth", lambda: tree(max_depth=None)),  # type: ignore[arg-type]  # a user may
    "no path": (TypeError, "not int", lambda: tree(3)),  # type: ignore[arg-type]  # a user may
}


@pytest.mark.parametrize("case", sorted(BAD_CALLS))
def test_what_cannot_be_drawn_is_one_clear_error(here: Path, events: list[dict[str, Any]], case: str) -> None:
    (here / "f").touch()
    kind, words, call = BAD_CALLS[case]
    each_raises(kind, words, call)
    assert [event["error"].startswith(kind.__name__) for event in events] == [True]
