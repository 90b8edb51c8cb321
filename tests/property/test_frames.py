"""The codec of frames gives the same frames however the bytes arrive, and survives any bytes at all."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.channel import encode_frame
from pisces.kernels.native.frames import DisplayFrame, DoneFrame, FrameDecoder, GuestFrame, InputFrame, encode_request

texts = st.text(st.characters(codec="utf-8"), max_size=40)
data = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def frames(draw: st.DrawFn) -> dict[str, Any]:
    """A frame as the guest makes it."""
    number = draw(st.integers(0, 1000))
    kind = draw(st.sampled_from(["display", "done", "input"]))
    if kind == "display":
        bundle = draw(st.dictionaries(texts, data, max_size=3))
        return {"type": kind, "id": number, "mark": number, "bundle": bundle}
    if kind == "done":
        return {"type": kind, "id": number, "mark": number, "status": "ok", "execution_count": number}
    return {"type": kind, "id": number, "prompt": draw(texts)}


@st.composite
def cut(draw: st.DrawFn, source: st.SearchStrategy[bytes]) -> list[bytes]:
    """Bytes in any pieces."""
    whole = draw(source)
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    return [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]


def as_written(frame: dict[str, Any]) -> bytes:
    return b"\n" + encode_frame(frame)


def in_parts(frame: dict[str, Any], size: int) -> bytes:
    text = json.dumps(frame)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    lines = [
        json.dumps({"type": "part", "id": 1, "seq": seq, "last": seq == len(pieces) - 1, "data": piece}) + "\n"
        for seq, piece in enumerate(pieces)
    ]
    return "".join(lines).encode("utf-8")


def decoded(pieces: list[bytes]) -> tuple[list[GuestFrame], int]:
    decoder = FrameDecoder()
    return [frame for piece in pieces for frame in decoder.feed(piece)], decoder.malformed


def matches(frame: GuestFrame, sent: dict[str, Any]) -> bool:
    if frame.id != sent["id"]:
        return False
    match frame:
        case DisplayFrame():
            return (frame.bundle, frame.mark) == (sent["bundle"], sent["mark"])
        case DoneFrame():
            return bool(frame.execution_count == sent["execution_count"])
        case InputFrame():
            return bool(frame.prompt == sent["prompt"])
        case _:
            return False


@given(
    st.lists(frames(), max_size=6).flatmap(
        lambda sent: st.tuples(st.just(sent), cut(st.just(b"".join(map(as_written, sent)))))
    )
)
def test_any_pieces_give_the_frames_that_were_sent(case: tuple[list[dict[str, Any]], list[bytes]]) -> None:
    sent, pieces = case
    received, malformed = decoded(pieces)
    assert malformed == 0
    assert len(received) == len(sent)
    assert all(matches(frame, original) for frame, original in zip(received, sent, strict=True))


@given(cut(st.binary(max_size=300)))
def test_no_bytes_raise_and_each_bad_line_counts_once(pieces: list[bytes]) -> None:
    _, malformed = decoded(pieces)
    whole = b"".join(pieces)
    assert malformed <= whole.count(b"\n")
    assert decoded([whole])[1] == malformed


@given(st.binary(max_size=100), frames(), st.integers(0, 100))
def test_a_frame_after_any_garbage_arrives(garbage: bytes, frame: dict[str, Any], place: int) -> None:
    stream = garbage + as_written(frame)
    place = min(place, len(stream))
    received, _ = decoded([stream[:place], stream[place:]])
    assert matches(received[-1], frame)


@given(frames(), st.integers(1, 30))
def test_a_frame_in_parts_is_put_together_again(frame: dict[str, Any], size: int) -> None:
    received, malformed = decoded([in_parts(frame, size)])
    assert malformed == 0
    assert len(received) == 1
    assert matches(received[0], frame)


@given(frames(), st.integers(1, 8), st.data())
def test_a_missing_part_loses_that_frame_and_no_other(frame: dict[str, Any], size: int, picks: st.DataObject) -> None:
    lines = in_parts(frame, size).splitlines(keepends=True)
    missing = picks.draw(st.integers(0, len(lines) - 1))
    received, malformed = decoded([*lines[:missing], *lines[missing + 1 :], as_written({"type": "input", "id": 5})])
    assert [frame.id for frame in received] == [5]
    assert malformed > 0 or missing == len(lines) - 1


@given(st.text(max_size=60))
def test_any_code_reaches_the_guest_on_one_line(code: str) -> None:
    line = encode_request({"type": "execute", "id": 1, "code": code})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    arrived = json.loads(line)["code"]
    assert len(arrived) == len(code)
    assert all(there == here or "\ud800" <= here <= "\udfff" for there, here in zip(arrived, code, strict=True))
