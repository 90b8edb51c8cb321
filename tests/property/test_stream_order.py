"""However two pipes are cut and interleaved, the markers bring their text back in the order in which it was written."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from pisces.kernels.native.order import STREAMS, StreamOrder
from pisces.model.events import StreamName

NONCE = "0123456789abcdef"
PREFIX = b"\x1ep" + NONCE.encode("ascii")

Write = tuple[Literal["stdout", "stderr", "mark"], str]

texts = st.text(st.sampled_from("ab\n\x1ep0é🐟"), min_size=1, max_size=8) | st.just("\x1ep" + NONCE[:9])
scripts = st.lists(st.tuples(st.sampled_from(["stdout", "stderr", "mark"]), texts), max_size=20)


def play(script: list[Write]) -> tuple[dict[StreamName, bytes], list[tuple[StreamName, str]]]:
    """What a guest writes to each pipe, and the text in order; it marks every turn from one stream to the other."""
    pipes: dict[StreamName, bytes] = {"stdout": b"", "stderr": b""}
    order: list[tuple[StreamName, str]] = []
    number, last = 0, None
    for name, text in script:
        if name == "mark" or (last is not None and last != name):
            number += 1
            for pipe in STREAMS:
                pipes[pipe] += PREFIX + b"%08x\n" % number
            last = None
        if name != "mark":
            pipes[name] += text.encode("utf-8")
            order.append((name, text))
            last = name
    return pipes, order


def joined(pieces: list[tuple[StreamName, str]]) -> list[tuple[StreamName, str]]:
    """Neighbours of one stream put together."""
    result: list[tuple[StreamName, str]] = []
    for name, text in pieces:
        if result and result[-1][0] == name:
            result[-1] = (name, result[-1][1] + text)
        elif text:
            result.append((name, text))
    return result


@given(scripts, st.data())
def test_text_comes_back_in_the_order_it_was_written(script: list[Write], picks: st.DataObject) -> None:
    pipes, written = play(script)
    order = StreamOrder(NONCE)
    received: list[tuple[StreamName, str]] = []
    while any(pipes.values()):
        name = picks.draw(st.sampled_from([name for name in STREAMS if pipes[name]]))
        size = picks.draw(st.integers(1, len(pipes[name])))
        order.feed(name, pipes[name][:size])
        pipes[name] = pipes[name][size:]
        received += order.take()
    order.finish()
    received += order.take()
    assert joined(received) == joined(written)


@given(scripts, st.data())
def test_nothing_behind_a_marker_is_given_out_in_front_of_it(script: list[Write], picks: st.DataObject) -> None:
    pipes, _ = play([*script, ("mark", "x"), ("stdout", "behind"), ("mark", "x"), ("stderr", "behind")])
    last = pipes["stdout"].count(PREFIX) - 1
    order = StreamOrder(NONCE)
    for name in STREAMS:
        cuts = picks.draw(st.integers(0, len(pipes[name])))
        order.feed(name, pipes[name][:cuts])
        order.feed(name, pipes[name][cuts:])
    assert all(order.reached(name, last) for name in STREAMS)
    before = "".join(text for _, text in order.take(last))
    after = "".join(text for _, text in order.take())
    assert "behind" not in before
    assert after == "behindbehind"


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_bytes_without_markers_pass_as_text(data: bytes, cuts: list[int]) -> None:
    order = StreamOrder(NONCE)
    places = sorted(min(place, len(data)) for place in cuts)
    received = ""
    for start, end in zip([0, *places], [*places, len(data)], strict=True):
        order.feed("stdout", data[start:end])
        received += "".join(text for _, text in order.take())
    order.finish()
    received += "".join(text for _, text in order.take())
    assert received == data.decode("utf-8", "replace")
