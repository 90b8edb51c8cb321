"""Both framings of a websocket give back the message that was put in, and survive any bytes at all."""

import json
import math
import struct
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.kernels.jupyter import ws_json, ws_v1
from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.jupyter.ws_json import BadFrame

both = pytest.mark.parametrize("framing", [ws_json, ws_v1], ids=["json", "v1"])

texts = st.text(st.characters(codec="utf-8"), max_size=40)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=4)
messages = st.builds(
    Message,
    st.sampled_from(["shell", "iopub", "stdin", "control"]),
    objects,
    objects,
    objects,
    objects,
    st.lists(st.binary(max_size=60), max_size=3).map(tuple),
)


@both
@given(message=messages)
def test_a_message_comes_back_as_it_was(framing: ModuleType, message: Message) -> None:
    payload, text = framing.encode(message)
    assert framing.decode(payload, text=text) == message


@both
@given(message=messages, data=st.data())
def test_a_frame_that_was_cut_is_refused_and_raises_nothing_else(
    framing: ModuleType, message: Message, data: st.DataObject
) -> None:
    payload, text = framing.encode(message)
    cut = payload[: data.draw(st.integers(0, len(payload) - 1))]
    # A frame of JSON with buffers tells no end: cut within the last of them, it is a message with a shorter one.
    try:
        found = framing.decode(cut, text=text)
    except BadFrame:
        return
    assert framing is ws_json
    assert found.content == message.content
    assert b"".join(message.buffers).startswith(b"".join(found.buffers))


@pytest.mark.parametrize("buffers", [(), (b"\x00\x01", b"abc")], ids=["plain", "buffers"])
@both
def test_a_frame_cut_at_any_byte_of_its_message_is_refused(framing: ModuleType, buffers: tuple[bytes, ...]) -> None:
    made = MessageMaker("client").execute("print('ä')")
    payload, text = framing.encode(Message("shell", made.header, {}, made.content, {}, buffers))
    end = len(payload) - (len(b"".join(buffers)) if framing is ws_json else 0)
    for length in range(end):
        with pytest.raises(BadFrame):
            framing.decode(payload[:length], text=text)


@both
@given(payload=st.binary(max_size=200), text=st.booleans())
def test_bytes_that_are_no_frame_raise_nothing_but_the_error_for_it(
    framing: ModuleType, payload: bytes, text: bool
) -> None:
    with pytest.raises(BadFrame):
        framing.decode(payload, text=text)


@given(offsets=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=10), rest=st.binary(max_size=80))
def test_offsets_that_point_anywhere_are_refused_in_v1(offsets: list[int], rest: bytes) -> None:
    payload = struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + rest
    with pytest.raises(BadFrame):
        ws_v1.decode(payload, text=False)


@given(offsets=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=6), rest=st.binary(max_size=80))
def test_offsets_that_point_anywhere_are_refused_in_json(offsets: list[int], rest: bytes) -> None:
    payload = struct.pack(f"!{len(offsets) + 1}I", len(offsets), *offsets) + rest
    with pytest.raises(BadFrame):
        ws_json.decode(payload, text=False)


def as_a_kernel_writes_it(content: dict[str, Any]) -> list[tuple[ModuleType, bytes, bool]]:
    """Frames as a server makes them of what Python's own encoder wrote, which is not always JSON."""
    raw = json.dumps(content).encode("ascii")
    whole = b'{"channel": "iopub", "header": {}, "parent_header": null, "metadata": {}, "content": ' + raw + b"}"
    parts = (b"iopub", b"{}", b"{}", b"{}", raw)
    offsets = [8 * 7]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return [(ws_json, whole, True), (ws_v1, struct.pack("<7Q", 6, *offsets) + b"".join(parts), False)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"data": math.nan}, {"data": "NaN"}),
        ({"data": [math.inf, -math.inf]}, {"data": ["Infinity", "-Infinity"]}),
        ({"text": "a\ud800b"}, {"text": "a�b"}),
        ({"text": "\U0001f600"}, {"text": "\U0001f600"}),
    ],
)
def test_what_is_not_strict_json_is_understood_all_the_same(content: dict[str, Any], expected: dict[str, Any]) -> None:
    for framing, payload, text in as_a_kernel_writes_it(content):
        assert framing.decode(payload, text=text).content == expected


@both
def test_deep_nesting_is_refused_and_not_fallen_over(framing: ModuleType) -> None:
    deep = b"[" * 100_000
    payload = struct.pack("<7Q", 6, 56, 61, 63, 65, 67, 67 + len(deep)) + b"iopub{}{}{}" + deep
    with pytest.raises(BadFrame):
        framing.decode(deep if framing is ws_json else payload, text=framing is ws_json)


@both
def test_a_lone_surrogate_in_the_code_is_sent_as_an_escape(framing: ModuleType) -> None:
    message = MessageMaker("client").execute("x = '\ud800'")
    payload, _ = framing.encode(message)
    assert b"\\ud800" in payload


@pytest.mark.parametrize("channel", ["", "iopub2", "ü"])
def test_a_channel_that_is_unknown_is_refused(channel: str) -> None:
    body = json.dumps({"channel": channel, "header": {}, "content": {}}).encode()
    with pytest.raises(BadFrame, match="there is no channel"):
        ws_json.decode(body, text=True)
