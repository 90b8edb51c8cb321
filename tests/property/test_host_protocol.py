"""Whatever a command sends, the host understands, and the other way round: one line each."""

import os

from hypothesis import example, given
from hypothesis import strategies as st

from pisces.host.protocol import (
    Call,
    Hello,
    NotUnderstood,
    Output,
    Piece,
    Place,
    Refusal,
    SessionLine,
    decode_reply,
    decode_request,
    encode,
    unpack_environ,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.binary(min_size=1).filter(lambda name: b"\0" not in name and b"=" not in name)
values = st.binary().filter(lambda value: b"\0" not in value)
params = st.dictionaries(texts, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts)


@given(texts, params, st.binary(), st.dictionaries(names, values), st.booleans())
def test_a_call_arrives_as_it_was_sent_in_one_line(
    tool: str, given_params: dict[str, object], cwd: bytes, environ: dict[bytes, bytes], stream: bool
) -> None:
    packed = b"".join(b"%b=%b\0" % pair for pair in environ.items())
    call = Call(tool=tool, params=given_params, place=Place(cwd, packed), stream=stream)
    line = encode(call)
    assert line.count(b"\n") == 1
    assert decode_request(line) == call
    assert unpack_environ(packed) == {os.fsdecode(name): os.fsdecode(value) for name, value in environ.items()}


replies = st.one_of(
    st.builds(Hello, st.integers(0, 99), texts, sessions=st.lists(st.builds(SessionLine, texts, texts)).map(tuple)),
    st.builds(Output, st.lists(st.builds(Piece, st.integers(0, 99), texts, texts))),
    st.builds(Refusal, st.sampled_from(["call", "settings", "ending", "failed"]), texts, texts),
)


@given(replies)
def test_a_reply_arrives_as_it_was_sent_in_one_line(reply: Hello | Output | Refusal) -> None:
    line = encode(reply)
    assert line.count(b"\n") == 1
    assert decode_reply(line) == reply


@given(st.binary() | st.binary().map(lambda inside: b'{"type":"%b"}' % inside))
@example(b'{"type":"call","tool":"\xff"}')
def test_anything_else_is_refused_and_nothing_worse(line: bytes) -> None:
    for decode in (decode_request, decode_reply):
        try:
            decode(line)
        except NotUnderstood:
            continue


def test_a_hello_of_a_later_version_can_be_read() -> None:
    line = b'{"type":"hello","protocol":99,"version":"9","mood":"good"}'
    assert decode_reply(line) == Hello(99, "9")
