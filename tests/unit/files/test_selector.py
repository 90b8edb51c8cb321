"""What a path can say about the lines that are wanted."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import FileError
from pisces.files.selector import Selection, joined, parse_ranges, split_selector
from pisces.output.artifact_text import LineRange


def split(text: str, *there: str) -> tuple[str, str]:
    path, selection = split_selector(text, set(there).__contains__)
    return path, str(selection)


@pytest.mark.parametrize(
    ("text", "path", "selection"),
    [
        ("a.py", "a.py", ""),
        ("a.py:7", "a.py", "7"),
        ("a.py:7-9", "a.py", "7-9"),
        ("a.py:7-7", "a.py", "7"),
        ("a.py:7-", "a.py", "7-"),
        ("a.py:7+3", "a.py", "7-9"),
        ("a.py:7+1", "a.py", "7"),
        ("a.py:20-30, 1-5", "a.py", "1-5,20-30"),
        ("a.py:1-5,3-9", "a.py", "1-9"),
        ("a.py:1-5,6", "a.py", "1-6"),
        ("a.py:5-,1,9", "a.py", "1,5-"),
        ("a.py:5-,7-", "a.py", "5-"),
        ("a.py:raw", "a.py", "raw"),
        ("a.ipynb:raw:1-50", "a.ipynb", "raw:1-50"),
        ("b:c.txt:3", "b:c.txt", "3"),
        ("/x/y:1/z", "/x/y:1/z", ""),
        ("C:notes", "C:notes", ""),
        (":7", ":7", ""),
    ],
)
def test_a_selector_is_understood(text: str, path: str, selection: str) -> None:
    assert split(text) == (path, selection)


@pytest.mark.parametrize("name", ["a:1", "a:raw", "a:b", "a:1-2,5"])
def test_a_name_that_is_there_is_that_file(name: str) -> None:
    assert split(name, name) == (name, "")
    assert split(f"{name}:4", name) == (name, "4")


@pytest.mark.parametrize("bad", ["0", "0-3", "9-3", "7+0", "1,,2", "1-2-3", "1+", "raw:", "raw:x", "1-2,", "9" * 19])
def test_a_bad_selection_says_what_is_allowed(bad: str) -> None:
    with pytest.raises(FileError, match="Not a selection of lines") as caught:
        split(f"a.py:{bad}")
    assert "path:N-M" in caught.value.hint


@pytest.mark.parametrize("bad", ["", "x", "-5", "1..5", "Raw", "L10"])
def test_what_is_no_selection_after_a_file_that_is_there_is_told(bad: str) -> None:
    with pytest.raises(FileError, match="Not a selection of lines"):
        split(f"a.py:{bad}", "a.py")
    assert split(f"a.py:{bad}") == (f"a.py:{bad}", "")


ranges = st.builds(
    lambda first, height: LineRange(first, None if height is None else first + height),
    st.integers(1, 40),
    st.none() | st.integers(0, 10),
)


def lines_of(spans: tuple[LineRange, ...] | list[LineRange], end: int = 60) -> set[int]:
    return {line for span in spans for line in range(span.first, (span.last or end) + 1)}


@given(st.lists(ranges, min_size=1, max_size=8))
def test_joining_keeps_the_lines_and_leaves_no_two_ranges_that_meet(spans: list[LineRange]) -> None:
    result = joined(spans)
    assert lines_of(result) == lines_of(spans)
    for before, after in pairwise(result):
        assert before.last is not None
        assert after.first > before.last + 1


@given(st.lists(ranges, min_size=1, max_size=8), st.booleans())
def test_a_selection_that_is_written_is_understood_as_itself(spans: list[LineRange], raw: bool) -> None:
    selection = Selection(raw=raw, lines=joined(spans))
    assert split_selector(f"a.txt:{selection}", lambda text: False) == ("a.txt", selection)


@given(st.lists(ranges, max_size=8), st.integers(0, 60))
def test_what_comes_after_a_line_is_the_rest(spans: list[LineRange], line: int) -> None:
    selection = Selection(lines=joined(spans))
    whole = lines_of(list(selection.lines) or [LineRange(1)])
    assert lines_of(selection.after(line).lines) == {wanted for wanted in whole if wanted > line}


def test_ranges_without_a_path_are_understood_too() -> None:
    assert parse_ranges("3,1") == (LineRange(1, 1), LineRange(3, 3))
