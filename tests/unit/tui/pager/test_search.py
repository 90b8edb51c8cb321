"""A search through a file: what is found, where, and what becomes of one that would go on for ever."""

import asyncio
import re
import tempfile

import psutil
import pytest
from anyio.lowlevel import checkpoint

from pisces.tui.pager.rows import Parts
from pisces.tui.pager.search import Matches, Search
from pisces.tui.pager.search_process import Wanted, found
from tests.fakes.drive import eventually

pytestmark = pytest.mark.processes


async def test_each_row_that_matches_is_found_with_its_places() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"one\ntwo One\nthree\nONE\n")
        file.flush()
        search = Search("one", Parts((file.fileno(),)), lambda: None)
        await search.go_on()
    assert list(search.matches.rows) == [0, 1, 3]
    assert search.matches.spans(1) == [(4, 7)]
    assert not search.running
    assert not search.failed


async def test_capitals_in_the_pattern_make_case_count() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"one\nOne\n")
        file.flush()
        search = Search("One", Parts((file.fileno(),)), lambda: None)
        await search.go_on()
    assert list(search.matches.rows) == [1]


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 50_000], ids=["open", "many", "deep"])
def test_what_is_no_regular_expression_is_refused_in_one_way(pattern: str) -> None:
    with pytest.raises(re.error):
        Search(pattern, Parts((0,)), lambda: None)


async def test_a_search_that_would_go_on_for_ever_ends_when_it_is_given_up() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"a" * 60 + b"!\n")
        file.flush()
        search = Search("(a+)+$", Parts((file.fileno(),)), lambda: None)
        before = set(psutil.Process().children())
        task = asyncio.create_task(search.go_on())
        await eventually(lambda: bool(set(psutil.Process().children()) - before))
        task.cancel()
        await asyncio.wait([task])
    assert not search.running
    assert not set(psutil.Process().children()) - before


async def test_a_search_that_is_given_up_as_it_begins_leaves_no_process() -> None:
    with tempfile.TemporaryFile() as file:
        search = Search("a", Parts((file.fileno(),)), lambda: None)
        before = set(psutil.Process().children())
        task = asyncio.create_task(search.go_on())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert not set(psutil.Process().children()) - before


async def test_a_search_that_is_given_up_as_it_ends_leaves_no_process() -> None:
    with tempfile.TemporaryFile() as file:
        search = Search("a", Parts((file.fileno(),)), lambda: None)
        before = set(psutil.Process().children())
        task = asyncio.create_task(search.go_on())
        await checkpoint()
        while search.running:
            await checkpoint()
        assert task.cancel()
        await asyncio.wait([task])
        assert not set(psutil.Process().children()) - before


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(re.error):
        Search("(", Parts((0,)), lambda: None)


@pytest.mark.parametrize("text", ["\u212a", "\u017f", "\u0130"])
def test_a_letter_whose_small_form_is_ascii_is_found_by_it(text: str) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(f"{text}\n".encode())
        file.flush()
        lines = list(found(Wanted(re.sub(".", lambda one: one[0].lower()[0], text), Parts((file.fileno(),)))))
    assert lines[0].startswith("0 ") is (re.search(text.lower()[0], text, re.IGNORECASE) is not None)


def test_matches_from_a_row_on_can_be_forgotten_and_found_again() -> None:
    matches = Matches()
    for row in (1, 4, 9):
        matches.add(row, [0, row])
    matches.forget_from(4)
    assert list(matches.rows) == [1]
    matches.add(5, [2, 3, 4, 5])
    assert matches.spans(5) == [(2, 3), (4, 5)]
    assert (matches.after(1), matches.before(5), matches.after(5), matches.before(1)) == (5, 1, None, None)
