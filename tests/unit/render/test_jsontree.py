"""JSON as a tree: bounded, whatever the value is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.render.blocks import Tree
from pisces.render.jsontree import COLLAPSED, EXPANDED, leaves, tree_text
from tests.fakes.cell_views import VALUE


def drawn(value: Any) -> list[str]:
    return [leaf.text for leaf in leaves(value, COLLAPSED)]


def test_a_tree_has_lines_that_lead_to_each_value() -> None:
    assert drawn(VALUE) == [
        "{} 7 keys",
        '├─ name: "Ada"',
        "├─ tags: [] 2 items",
        '│  ├─ 0: "a"',
        '│  └─ 1: "b"',
        "├─ deep: {} 1 key",
        "│  └─ one: {…} 1 key",
        "├─ none: null",
        "├─ on: true",
        "├─ pi: 3.14",
        "└─ empty: []",
    ]


def test_six_levels_are_shown_when_all_is_wanted() -> None:
    assert "│" + " " * 14 + "└─ five: {…} 1 key" in [leaf.text for leaf in leaves(VALUE, EXPANDED)]


def test_plain_text_is_indented_and_has_no_lines_in_it() -> None:
    assert tree_text({"a": [1, {"b": None}]}, expanded=False) == "{} 1 key\n  a: [] 2 items\n    0: 1\n    1: {…} 1 key"


def test_what_is_left_out_is_counted() -> None:
    shown = drawn(list(range(1000)))
    assert (shown[0], shown[-1], len(shown)) == ("[] 1,000 items", "└─ … 980 more", 22)
    assert drawn("x" * 300) == [f'"{"x" * 120}"… 180 more characters']


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (None, "null"),
        (True, "true"),
        ({}, "{}"),
        ([], "[]"),
        ("a\n\x1b[2Jb", '"a\\nb"'),
        (b"x", "b'x'"),
        (1e400, "inf"),
    ],
)
def test_a_value_by_itself_is_a_line(value: Any, line: str) -> None:
    assert drawn(value) == [line]


def test_a_value_that_is_deep_beyond_reason_is_cut() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert len(drawn(deep)) == 3
    assert Tree(deep).text.startswith("[JSON that cannot be written")
    while isinstance(deep, list):  # Let go of it level by level: to free it at once would recurse, too.
        deep = deep.pop()


def test_a_number_with_too_many_digits_is_said_to_be_large() -> None:
    assert drawn(10**5000) == ["a very large number"]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sets(st.integers()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner) | st.tuples(inner),
)


@given(ANY)
def test_any_value_makes_few_lines(value: Any) -> None:
    for bounds in (COLLAPSED, EXPANDED):
        made = leaves(value, bounds)
        assert 1 <= len(made) <= bounds.lines + 1
        assert not any("\n" in leaf.text or "\x1b" in leaf.text for leaf in made)
