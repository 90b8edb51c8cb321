"""Lines are sorted, counted and cut as `sort`, `uniq`, `awk` and `cut` do it, byte for byte."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude.names import cols, counter, sort_lines, uniq
from tests.unit.guest.prelude.counterparts import TEXTS, answer, each_raises

pytestmark = pytest.mark.processes

FIELDS = st.lists(st.text("ab é1", max_size=6) | st.sampled_from(["a\tb", " a  b ", "漢 字"]), max_size=6)
TABLES = FIELDS.map(lambda lines: "".join(f"{line}\n" for line in lines))


def ended(text: str) -> str:
    """A text as the commands print it: they end every line."""
    return text if text.endswith("\n") or not text else f"{text}\n"


@settings(max_examples=60)
@given(text=TEXTS, reverse=st.booleans(), unique=st.booleans())
def test_lines_are_sorted_as_sort_does(text: str, reverse: bool, unique: bool) -> None:
    options = ["-r"] * reverse + ["-u"] * unique
    found = sort_lines(text, reverse=reverse, unique=unique)
    expected = answer("sort", *options, given=text)
    assert ended(found) == expected
    assert found == (expected if text.endswith("\n") or expected[-2:] == "\n\n" else expected[:-1])


@settings(max_examples=60)
@given(text=TEXTS)
def test_lines_that_repeat_are_left_out_as_uniq_does(text: str) -> None:
    found = uniq(text)
    assert isinstance(found, str)
    assert ended(found) == answer("uniq", given=text)
    assert found.endswith("\n") == text.endswith("\n")
    counted = uniq(text, count=True)
    assert isinstance(counted, list)
    assert "".join(f"{number:7} {line}\n" for number, line in counted) == answer("uniq", "-c", given=text)


@settings(max_examples=40)
@given(text=TEXTS)
def test_lines_are_counted_as_sort_and_uniq_do(text: str) -> None:
    expected = answer("bash", "-c", "sort | uniq -c | sort -k1,1nr", given=text)
    found = counter(text)
    assert sorted(f"{number:7} {line}" for number, line in found) == sorted(expected.split("\n")[:-1])
    numbers = [number for number, _ in found]
    assert numbers == sorted(numbers, reverse=True)
    assert sorted(counter(text, reverse=False)) == sorted(found)


@settings(max_examples=50)
@given(text=TABLES, first=st.integers(0, 4), second=st.integers(0, 4))
def test_columns_are_those_that_awk_prints(text: str, first: int, second: int) -> None:
    program = f"{{print ${first + 1}, ${second + 1}}}"
    assert cols(text, first, second) == answer("awk", program, given=text)


@settings(max_examples=50)
@given(text=TABLES, sep=st.sampled_from([",", ":", ";", "|"]), first=st.integers(0, 3))
def test_columns_between_separators_are_those_of_awk_and_cut(text: str, sep: str, first: int) -> None:
    table = text.replace(" ", sep)
    program = f"{{print ${first + 1}, $1}}"
    assert cols(table, first, 0, sep=sep) == answer("awk", f"-F[{sep}]", "-v", f"OFS={sep}", program, given=table)
    full = "".join(f"{line}{sep * 4}\n" for line in table.split("\n")[:-1])
    assert cols(full, first, first + 1, sep=sep) == answer("cut", f"-d{sep}", f"-f{first + 1}-{first + 2}", given=full)


def test_what_is_told(events: list[dict[str, Any]]) -> None:
    assert sort_lines("b\na\nb", unique=True, reverse=True) == "b\na"
    assert uniq("a\na\nb\n", count=True) == [(2, "a"), (1, "b")]
    assert counter([f"item {number % 12}" for number in range(30)] + ["x" * 200], limit=11)[0] == (3, "item 0")
    assert cols("a b c\nd e f", 2, 0) == "c a\nf d"
    top = [[3, f"item {number}"] for number in range(6)] + [[2, f"item {number}"] for number in range(6, 10)]
    assert events == [
        {"op": "sort_lines", "lines": 2, "unique": True, "reverse": True},
        {"op": "uniq", "groups": 2, "count_mode": True},
        {"op": "counter", "unique": 13, "total": 31, "top": top},
        {"op": "cols", "lines": 2, "columns": [2, 0]},
    ]


def test_long_items_are_cut_in_what_is_told(events: list[dict[str, Any]]) -> None:
    assert counter(["x" * 200]) == [(1, "x" * 200)]
    assert events[-1]["top"] == [[1, "x" * 100]]


def test_items_without_words_are_counted_all_the_same(events: list[dict[str, Any]]) -> None:
    assert counter([10**5000, 1, 1]) == [(2, 1), (1, 10**5000)]
    assert events[0]["top"] == [[2, "1"], [1, "<int whose text raised ValueError>"]]


def test_nothing_has_no_lines() -> None:
    assert (sort_lines(""), uniq(""), uniq("", count=True), counter(""), cols("", 0)) == ("", "", [], [], "")
    assert sort_lines("\n\n") == "\n\n"


def test_a_last_line_that_is_empty_stays_one() -> None:
    assert sort_lines("\na", reverse=True) == "a\n\n"
    assert cols("a b\nc", 1) == "b\n\n"


def test_anything_that_can_be_counted_is_in_the_order_in_which_it_came() -> None:
    items: list[Any] = [3, "a", None, "a", 3.0]
    assert counter(items) == [(2, 3), (2, "a"), (1, None)]
    assert counter(iter(items), reverse=False) == [(1, None), (2, 3), (2, "a")]
    assert counter(items, limit=1) == [(2, 3)]
    assert {item: number for number, item in counter("a\nb\na")} == Counter(["a", "b", "a"])


def test_columns_count_from_the_end_too_and_crlf_stays() -> None:
    assert cols("a b c\r\nd\r\n", -1, 0) == "c a\r\nd d\r\n"
    assert cols("a,b\r\n", 1, 5, sep=",") == "b,\r\n"
    assert cols("a--b--c", 2, sep="--") == "c"


def test_what_is_no_text_is_refused() -> None:
    wrong: Any = b"a\nb"
    each_raises(
        TypeError, "text is a text, not bytes", lambda: sort_lines(wrong), lambda: uniq(wrong), lambda: cols(wrong, 0)
    )
    nothing: Any = None
    each_raises(
        TypeError,
        "text is a text, not NoneType",
        lambda: sort_lines(nothing),
        lambda: uniq(nothing),
        lambda: cols(nothing, 0),
    )


def test_what_cannot_be_counted_or_cut_is_refused() -> None:
    number: Any = 3
    unhashable: Any = [[]]
    each_raises(TypeError, re.escape("counter() takes a text"), lambda: counter(number), lambda: counter(unhashable))
    each_raises(ValueError, "limit is 0 or more, not -1", lambda: counter("a", limit=-1))
    each_raises(ValueError, re.escape("cols() needs the numbers"), lambda: cols("a"))
    each_raises(ValueError, "sep is empty", lambda: cols("a", 0, sep=""))
    text: Any = "1"
    each_raises(TypeError, "a column is a whole number", lambda: cols("a", text), lambda: cols("a", True))
    each_raises(TypeError, "sep is a text", lambda: cols("a", 0, sep=number))
