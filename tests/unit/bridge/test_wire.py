"""What goes over the bridge arrives as it was, whatever text is in it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.bridge.wire import Answer, Reply, parse_request

texts = st.text(st.characters(exclude_categories=["Cs"]) | st.just("\ud800"), max_size=20)  # Half a pair too.
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_any_value_that_json_can_have_arrives(value: Any) -> None:
    assert json.loads(Reply.of(Answer(value=value)).body) == {"ok": True, "value": value}


@given(texts)
def test_any_error_arrives(error: str) -> None:
    assert json.loads(Reply.of(Answer(error=error)).body) == {"ok": False, "error": error}


def test_a_value_that_is_no_json_is_an_error_that_says_so() -> None:
    answer = json.loads(Reply.of(Answer(value=object())).body)
    assert answer["ok"] is False
    assert answer["error"].startswith("Its value cannot be sent as JSON: ")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"name": "read"}', b'{"session": 1, "name": "read"}', b"\xff"])
def test_a_body_that_is_no_call_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="no call of a tool"):
        parse_request(body)


@given(st.dictionaries(texts, values, max_size=3))
def test_arguments_arrive_as_they_were_sent(args: dict[str, Any]) -> None:
    sent = json.dumps({"session": "s", "name": "read", "args": args}).encode("ascii")
    if "\ud800" in json.dumps(args, ensure_ascii=False):  # Half of a pair is no text that a tool could take.
        with pytest.raises(ValueError, match="surrogate"):
            parse_request(sent)
    else:
        assert parse_request(sent).args == args
