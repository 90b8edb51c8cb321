"""A file as rows: nothing is lost, no row is long, and every line is found."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.pager.rows import LONGEST, PAGE, PagedFile, Parts, pages, shown

_PIECES = {
    "n": b"\n",
    "s": b"short\n",
    "u": "ä€𝄞".encode(),
    "x": b"x" * 5000,
    "y": b"y" * PAGE,
    "r": b"\r\n",
    "b": b"\xff\xfe",
    "e": b"e",
}
_recipes = st.text(alphabet="".join(_PIECES), max_size=30)


def _made(recipe: str) -> bytes:
    return b"".join(_PIECES[letter] for letter in recipe)


@contextmanager
def _paged(data: bytes) -> Iterator[PagedFile]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield PagedFile(Parts((file.fileno(),)))


def _all_of(paged: PagedFile) -> bytes:
    return b"".join(paged.row(number) for number in range(paged.rows))


@given(_recipes)
def test_rows_put_together_are_the_file_and_each_is_short(recipe: str) -> None:
    data = _made(recipe)
    with _paged(data) as paged:
        while paged.scan(1):
            pass
        assert paged.whole
        assert _all_of(paged) == data
        assert all(len(paged.row(number)) <= LONGEST + 1 for number in range(paged.rows))
        assert paged.lines == data.count(b"\n") + bool(data and not data.endswith(b"\n"))


@given(_recipes, st.integers(min_value=1, max_value=100))
def test_the_row_of_a_line_begins_it(recipe: str, line: int) -> None:
    data = _made(recipe)
    with _paged(data) as paged:
        while paged.scan(PAGE):
            pass
        lines = data.splitlines(keepends=True) if b"\r" not in data else [part + b"\n" for part in data.split(b"\n")]
        if not 1 <= line <= paged.lines:
            return
        row = paged.row_of(line)
        assert paged.line_of(row) == line
        assert lines[line - 1].startswith(paged.row(row).rstrip(b"\n"))
        assert row == 0 or paged.line_of(row - 1) == line - 1


@given(_recipes, _recipes)
def test_a_file_that_grows_has_the_rows_of_the_whole_file(before: str, after: str) -> None:
    first, second = _made(before), _made(after)
    with _paged(first) as paged:
        while paged.scan(PAGE):
            pass
        os.pwrite(paged.parts.descriptors[0], second, len(first))
        while paged.scan(PAGE):
            pass
        assert _all_of(paged) == first + second
        with _paged(first + second) as whole:
            while whole.scan(PAGE):
                pass
            assert (paged.rows, paged.lines) == (whole.rows, whole.lines)


@given(_recipes, _recipes)
def test_the_page_of_a_byte_has_it_and_its_rows_are_those_from_there_on(before: str, after: str) -> None:
    first, second = _made(before), _made(after)
    with _paged(first + second) as paged:
        while paged.scan(PAGE):
            pass
        start, row = paged.page_at(len(first))
        assert len(first) - PAGE <= start <= len(first)
        rest = [each for page in pages(paged.parts, start, row) for each in page.rows]
        assert rest == [paged.row(number) for number in range(row, paged.rows)]


def test_what_is_written_while_pages_are_read_does_not_cut_a_line_in_two() -> None:
    """It is read with the page that it belongs to, when that is read again."""
    with _paged(b"one\nhalf of ") as paged:
        reading = pages(paged.parts)
        rows = next(reading).rows
        os.pwrite(paged.parts.descriptors[0], b"a line\n", len(b"one\nhalf of "))
        assert rows + [row for page in reading for row in page.rows] == [b"one\n", b"half of "]


def test_what_a_terminal_would_obey_is_not_in_a_row_that_is_shown() -> None:
    text = shown(b"a\x1b[2Jb\x07c\xe2\x80\xaed\n")
    assert not {"\x1b", "\x07", "\u202e", "\n"}.intersection(text)
