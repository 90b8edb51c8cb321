from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.lib import pretty as of_ipython

from pisces.guest.pretty import pretty

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=30)
    | st.binary(max_size=10)
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=8)
        | st.lists(inner, max_size=6).map(tuple)
        | st.sets(st.integers(), max_size=30)
        | st.frozensets(st.text(max_size=12), max_size=12)
    ),
    max_leaves=30,
)


@given(VALUES)
def test_the_text_is_python_for_the_value(value: Any) -> None:
    assert eval(pretty(value), {"inf": float("inf")}) == value


@given(VALUES)
def test_no_line_is_too_long_because_of_the_layout(value: Any) -> None:
    text = pretty(value)
    assert "\n" not in text or len(repr(value)) > 79 - 2
    assert (
        "\n" in text or len(text) <= 79 or not isinstance(value, (list, dict, tuple, set, frozenset)) or len(value) < 2
    )


@pytest.mark.parametrize(
    "value",
    [
        [],
        (),
        (1,),
        set(),
        {3, 1, 2},
        {1: "a", "b": [1, 2]},
        list(range(100)),
        {"key": list(range(40)), "other": "x"},
        [{"name": "a" * 30, "values": [1, 2, 3]}, {"name": "b" * 30, "values": []}],
        ("x" * 50, "y" * 50),
        {"a": {"b": {"c": list(range(30))}}},
        list(range(2000)),
        [[]],
        {"a": ()},
    ],
    ids=lambda value: repr(value)[:30],
)
def test_containers_are_laid_out_as_ipython_does(value: Any) -> None:
    oracle: Any = of_ipython.pretty
    assert pretty(value) == oracle(value)


def test_a_container_in_itself_ends() -> None:
    value: list[Any] = [1]
    value.append(value)
    assert pretty(value) == "[1, [...]]"
    table: dict[str, Any] = {"long": "x" * 80}
    table["self"] = table
    assert pretty(table).endswith("'self': {...}}")


def test_a_huge_container_is_cut_and_a_deep_one_is_not_fatal() -> None:
    assert len(pretty(list(range(10**6)))) < 10_000
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep, "x" * 80]
    assert pretty(deep).startswith("[[[")


def test_a_representation_of_several_lines_stays_in_shape() -> None:
    class Matrix:
        def __repr__(self) -> str:
            return "M(1 2\n  3 4)"

    assert pretty([Matrix(), 1]) == "[M(1 2\n   3 4),\n 1]"
    assert pretty(Matrix()) == "M(1 2\n  3 4)"
