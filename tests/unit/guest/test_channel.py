"""Frames are strict JSON on one line each, long ones in parts, and none comes from a forked process."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pisces.guest.channel import FrameWriter, encode_frame
from pisces.guest.requests import RequestReader
from pisces.guest.streams import write_all
from pisces.kernels.native.frames import DisplayFrame, FrameDecoder


class Order:
    """Stands for `OutputOrder`: places count up."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.guard = threading.RLock()
        self.release_frames: Any = None
        self.places = 0

    def place(self) -> tuple[int, bool]:
        self.places += 1
        return self.places, True


class Streams:
    """Stands for `StandardStreams`."""

    def __init__(self) -> None:
        self.order = Order()
        self.flushes = 0

    def flush(self) -> None:
        self.flushes += 1


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    yield read, write
    os.close(read)
    os.close(write)


@pytest.fixture
def streams() -> Streams:
    return Streams()


@pytest.fixture
def writer(pipe: tuple[int, int], streams: Streams) -> Iterator[FrameWriter]:
    made = FrameWriter(pipe[1], streams)  # type: ignore[arg-type]
    yield made
    made._close()


def received(read: int) -> list[dict[str, Any]]:
    try:
        data = os.read(read, 1 << 20)
    except BlockingIOError:
        return []
    return [json.loads(line) for line in data.split(b"\n") if line]


def test_a_frame_is_one_line_whatever_is_in_it() -> None:
    line = encode_frame({"type": "x", "text": "a\nb\r\u2028", "n": float("nan"), "who": object, "deep": {3: {1, 2}}})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["n"] == "NaN"


def test_a_lone_surrogate_becomes_what_stands_for_no_character() -> None:
    assert json.loads(encode_frame({"text": "a\ud800b"}).decode("utf-8")) == {"text": "a\ufffdb"}


def test_a_frame_in_order_comes_after_a_flush_with_its_place(
    writer: FrameWriter, streams: Streams, pipe: tuple[int, int]
) -> None:
    writer.cell = 4
    writer.send_in_order("display", bundle={})
    assert streams.flushes == 1
    assert received(pipe[0]) == [{"type": "display", "id": 4, "mark": 1, "marked": True, "bundle": {}}]


def test_a_frame_that_is_held_goes_with_the_next(writer: FrameWriter, pipe: tuple[int, int]) -> None:
    writer.send_in_order("result", hold=True, bundle={})
    assert received(pipe[0]) == []
    writer.send_in_order("done")
    assert [frame["type"] for frame in received(pipe[0])] == ["result", "done"]


def test_a_frame_that_is_held_goes_before_text(writer: FrameWriter, streams: Streams, pipe: tuple[int, int]) -> None:
    writer.send_in_order("result", hold=True, bundle={})
    streams.order.release_frames()
    assert [frame["type"] for frame in received(pipe[0])] == ["result"]


def test_a_line_that_somebody_else_began_does_not_swallow_the_frame(writer: FrameWriter, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"half a li")
    writer.send("input", prompt="?")
    assert os.read(pipe[0], 1000).split(b"\n")[1].startswith(b'{"type":"input"')


@pytest.mark.parametrize("letter", ["x", "ü", "🐟", "\\"])
def test_a_long_frame_travels_in_parts_below_the_limit(streams: Streams, letter: str) -> None:
    read, write = os.pipe()
    writer = FrameWriter(write, streams)  # type: ignore[arg-type]
    os.close(write)
    with open(read, "rb") as frames, ThreadPoolExecutor(1) as reading:
        whole = reading.submit(frames.read)
        writer.send_in_order("display", bundle={"text/plain": letter * 2_000_000})
        writer._close()
        data = whole.result(timeout=30)
    assert max(map(len, data.split(b"\n"))) <= 2 << 20
    (frame,) = FrameDecoder().feed(data)
    assert isinstance(frame, DisplayFrame)
    assert frame.bundle["text/plain"] == letter * 2_000_000


def test_nothing_is_sent_once_it_is_closed(writer: FrameWriter, pipe: tuple[int, int]) -> None:
    writer._close()
    writer.send("input", prompt="?")
    writer.send_in_order("done")
    assert received(pipe[0]) == []


def test_everything_is_written_to_a_pipe_that_is_full_and_does_not_block(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.set_blocking(write, False)
    os.set_blocking(read, True)
    total = 300_000
    writing = threading.Thread(target=write_all, args=(write, b"x" * total))
    writing.start()
    seen = 0
    while seen < total:
        seen += len(os.read(read, 1 << 16))
    writing.join(timeout=30)
    assert seen == total


@pytest.fixture
def requests() -> Iterator[tuple[socket.socket, RequestReader]]:
    host, guest = socket.socketpair()
    reader = RequestReader()
    reader.attach(guest.fileno())
    yield host, reader
    reader._close()
    host.close()
    guest.close()


def test_requests_come_when_their_line_is_complete(requests: tuple[socket.socket, RequestReader]) -> None:
    host, reader = requests
    host.sendall(b'{"type":"exe')
    assert reader.read() == []
    host.sendall(b'cute"}\n{"type":"exit"}\n{"ty')
    assert reader.read() == [{"type": "execute"}, {"type": "exit"}]


def test_no_request_is_no_end(requests: tuple[socket.socket, RequestReader]) -> None:
    assert requests[1].read() == []


def test_a_host_that_has_gone_is_told_from_a_silent_one(requests: tuple[socket.socket, RequestReader]) -> None:
    host, reader = requests
    host.shutdown(socket.SHUT_RDWR)
    assert reader.read() is None
