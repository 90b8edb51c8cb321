"""Calls and results in the words of each API: whatever a model sends is a call or none, and every result is JSON."""

import json
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import InvalidCall
from pisces.model.results import ImageBlock, TextBlock, ToolResult
from pisces.tools.agent_calls import AgentCall, answer, read_call
from pisces.tools.agent_schemas import Kind

KINDS: tuple[Kind, ...] = get_args(Kind)
CALLS: dict[Kind, dict[str, Any]] = {
    "anthropic": {"type": "tool_use", "id": "toolu_1", "name": "python", "input": {"code": "1"}},
    "openai": {"type": "function_call", "call_id": "call_1", "id": "fc_1", "name": "python", "arguments": "{}"},
    "openai-chat": {"type": "function", "id": "call_1", "function": {"name": "python", "arguments": "{}"}},
    "mcp": {"name": "python", "arguments": {"code": "1"}},
}
PIXEL = "iVBORw0KGgo="
TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
BLOCKS = st.one_of(
    st.builds(TextBlock, TEXTS),
    st.builds(ImageBlock, st.just(PIXEL), st.sampled_from(["image/png", "image/jpeg", "image/svg+xml", "\ud800"])),
)
RESULTS = st.builds(ToolResult, content=st.lists(BLOCKS, max_size=4), is_error=st.booleans())


def as_object(value: Any) -> Any:
    """A dictionary as the SDKs give it: an object with attributes."""
    if not isinstance(value, dict):
        return value
    return SimpleNamespace(**{name: as_object(each) if name == "function" else each for name, each in value.items()})


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_is_known_by_its_form_as_an_object_and_as_a_dictionary(kind: Kind) -> None:
    call = read_call(CALLS[kind])
    assert call is not None
    assert (call.kind, call.name) == (kind, "python")
    assert call.id == {"anthropic": "toolu_1", "mcp": ""}.get(kind, "call_1")
    assert read_call(as_object(CALLS[kind])) == call


@pytest.mark.parametrize(
    "item",
    [
        {"type": "text", "text": "hello"},
        {"type": "thinking", "thinking": "…", "signature": ""},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "custom", "id": "call_1", "custom": {"name": "python", "input": "1"}},
        {"role": "user", "name": "somebody", "content": "hello"},
        "text",
        None,
    ],
    ids=str,
)
def test_what_is_no_call_of_a_tool_is_none(item: Any) -> None:
    assert read_call(item) is None
    assert read_call(as_object(item)) is None


@pytest.mark.parametrize("kind", ["anthropic", "openai", "openai-chat"])
def test_a_call_that_could_not_be_answered_is_refused(kind: Kind) -> None:
    nameless = {name: value for name, value in CALLS[kind].items() if name not in ("id", "call_id")}
    with pytest.raises(InvalidCall, match="needs a name and an id"):
        read_call(nameless)


@pytest.mark.parametrize(
    ("given_text", "why"),
    [
        ('{"code": "1"', "The arguments are no JSON (Input data was truncated)"),
        ("print(1)", "The arguments are no JSON"),
        ("[1]", "The arguments must be a JSON object, got [1]"),
        ('"x"', "The arguments must be a JSON object, got 'x'"),
        ("\ud800", "The arguments are no JSON"),
        ("[" * 100_000, "The arguments are no JSON"),
    ],
    ids=["cut", "code", "list", "text", "surrogate", "deep"],
)
def test_arguments_that_are_no_object_are_refused_with_the_reason(given_text: str, why: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        AgentCall("openai", "1", "python", given_text).params()
    assert why in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("nothing", ["", " ", "{}", "null", None])
def test_no_arguments_are_an_empty_object(nothing: Any) -> None:
    assert AgentCall("openai", "1", "python", nothing).params() == {}


@given(TEXTS)
def test_any_text_of_arguments_is_an_object_or_a_refusal(text: str) -> None:
    with suppress(InvalidCall):
        assert isinstance(AgentCall("openai", "1", "python", text).params(), dict)


@given(RESULTS)
def test_every_result_can_be_sent_as_json_and_says_something(result: ToolResult) -> None:
    for kind in KINDS:
        answered = answer(AgentCall(kind, "call_1", "python", {}), result)
        sent = json.dumps(answered, ensure_ascii=False).encode("utf-8")
        assert json.loads(sent) == answered
        content = answered.get("content", answered.get("output"))
        assert content.strip() if isinstance(content, str) else content
        for part in content if isinstance(content, list) else ():
            assert part.get("text", "x").strip()


def test_text_and_pictures_are_where_each_api_looks_for_them() -> None:
    result = ToolResult(content=[TextBlock("seen"), ImageBlock(PIXEL, "image/png")], is_error=True)
    answers = {kind: answer(AgentCall(kind, "c", "python", {}), result) for kind in KINDS}
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    picture = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PIXEL}"}
    assert answers["anthropic"] == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [{"type": "text", "text": "seen"}, {"type": "image", "source": source}],
        "is_error": True,
    }
    assert answers["openai"] == {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "seen"}, picture],
    }
    assert answers["openai-chat"] == {
        "role": "tool",
        "tool_call_id": "c",
        "content": "seen\n\n[image/png is not shown: this API takes text]",
    }
    assert answers["mcp"] == {
        "content": [{"type": "text", "text": "seen"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}],
        "isError": True,
    }


def test_text_alone_is_a_text_where_the_api_has_one() -> None:
    result = ToolResult(content=[TextBlock("one"), TextBlock("two")])
    assert answer(AgentCall("openai", "c", "python", {}), result)["output"] == "one\n\ntwo"


def test_a_picture_that_models_cannot_look_at_is_named() -> None:
    result = ToolResult(content=[ImageBlock(PIXEL, "image/svg+xml")])
    (block,) = answer(AgentCall("anthropic", "c", "python", {}), result)["content"]
    assert block == {"type": "text", "text": "[image/svg+xml cannot be shown to a model]"}
