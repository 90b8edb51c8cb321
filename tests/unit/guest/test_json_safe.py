import enum
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.json_safe import json_safe, safe_text

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.binary()
    | st.text(st.characters(exclude_categories=[])),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.tuples(st.text()), inner
        )
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_anything_becomes_strict_json(value: Any) -> None:
    json.dumps(json_safe(value), allow_nan=False, ensure_ascii=False).encode("utf-8")


class Colour(enum.StrEnum):
    RED = "red"


class Scalar:
    shape = ()

    def item(self) -> float:
        return 2.5


class Broken:
    shape = ()

    def item(self) -> float:
        raise ValueError

    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([float("nan"), float("inf"), float("-inf")], ["NaN", "Infinity", "-Infinity"]),
        ({1: "a", None: "b", 2.5: "c", (1, 2): "d"}, {"1": "a", "null": "b", "2.5": "c", "(1, 2)": "d"}),
        ({True: 1, False: 2}, {"true": 1, "false": 2}),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        (Colour.RED, "red"),
        ((1, 2), [1, 2]),
        ({1}, "{1}"),
        (Scalar(), 2.5),
        (Broken(), "<Broken whose repr raised ValueError>"),
        (b"ab", "b'ab'"),
    ],
)
def test_what_json_cannot_say_is_said_otherwise(value: Any, expected: Any) -> None:
    assert json_safe(value) == expected


def test_a_value_in_itself_and_a_deep_one_end() -> None:
    value: list[Any] = []
    value.append(value)
    assert json_safe(value) == ["<circular reference>"]
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert "<nested too deeply>" in json.dumps(json_safe(deep))
    shared = [1]
    assert json_safe([shared, shared]) == [[1], [1]]


def test_an_integer_that_cannot_be_spelled_is_hexadecimal() -> None:
    assert json_safe(10**5000) == hex(10**5000)
    assert json_safe(10**1000) == 10**1000


def test_text_that_is_sound_is_the_same_object() -> None:
    text = "é" * 10
    assert safe_text(text) is text
