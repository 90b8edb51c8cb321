"""What we write jupyter_client reads, what it writes we read, and what nobody signed is skipped and counted."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.session import Session

from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.zmq.wire import Wire

KEY = b"a key of this test"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
CONTENT = st.dictionaries(st.text("abc", max_size=3), JSON, max_size=4)


def their_session() -> Session:
    return Session(key=KEY)


def ours_of(frames: list[bytes]) -> Message:
    message = Wire(KEY).unpack("iopub", frames)
    assert message is not None
    return message


def theirs(content: dict[str, Any], *, buffers: tuple[bytes, ...] = ()) -> list[bytes]:
    session = their_session()
    return [b"topic", *session.serialize(session.msg("stream", content)), *buffers]


def resigned(frames: list[bytes], content: bytes) -> list[bytes]:
    """The same message with another content, signed again."""
    parts = [*frames[3:6], content]
    return [*frames[:2], their_session().sign(parts), *parts]


@given(CONTENT, st.lists(st.binary(max_size=20), max_size=3))
def test_they_read_what_we_write(content: dict[str, Any], buffers: list[bytes]) -> None:
    made = MessageMaker().make("shell", "execute_request", content, parent={"msg_id": "before"})
    frames = Wire(KEY).pack(Message("shell", made.header, made.parent_header, content, {"m": 1}, tuple(buffers)))
    session = their_session()
    _, parts = session.feed_identities(frames)
    read = session.deserialize(parts)
    assert (read["content"], read["metadata"]) == (content, {"m": 1})
    assert (read["msg_type"], read["msg_id"]) == ("execute_request", made.id)
    assert read["parent_header"]["msg_id"] == "before"
    assert [bytes(buffer) for buffer in read["buffers"]] == buffers


@given(CONTENT, st.lists(st.binary(max_size=20), max_size=3))
def test_we_read_what_they_write(content: dict[str, Any], buffers: list[bytes]) -> None:
    message = ours_of(theirs(content, buffers=tuple(buffers)))
    assert (message.type, message.content, message.buffers) == ("stream", content, tuple(buffers))


@given(st.lists(st.binary(max_size=30), max_size=9))
def test_any_frames_are_a_message_or_are_counted(frames: list[bytes]) -> None:
    wire = Wire(KEY)
    assert wire.unpack("iopub", frames) is None
    assert wire.rejected == 1


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"{", b"\xff", b'{"a":' * 100_000])
def test_a_signed_message_that_makes_no_sense_is_counted(content: bytes) -> None:
    wire = Wire(KEY)
    assert wire.unpack("iopub", resigned(theirs({}), content)) is None
    assert wire.rejected == 1


def test_a_message_of_another_key_is_counted() -> None:
    wire = Wire(b"another key")
    assert wire.unpack("iopub", theirs({})) is None
    assert wire.rejected == 1


def test_what_python_itself_writes_as_json_is_read() -> None:
    message = ours_of(resigned(theirs({}), b'{"nan": NaN, "half": "\\ud800", "raw": "\xff"}'))
    assert message.content == {"nan": "NaN", "half": "\ufffd", "raw": "\ufffd"}


def test_code_with_half_a_surrogate_pair_can_be_sent() -> None:
    frames = Wire(KEY).pack(MessageMaker().execute("'\ud800'"))
    assert json.loads(frames[-1])["code"] == "'\ud800'"


def test_parents_are_told_apart() -> None:
    wire, session = Wire(KEY), their_session()
    for number in (1, 1, 2, 1):
        parent = session.msg("execute_request")
        parent["header"]["msg_id"] = f"id{number}"
        message = wire.unpack("iopub", session.serialize(session.msg("status", {}, parent=parent["header"])))
        assert message is not None
        assert message.parent == f"id{number}"
