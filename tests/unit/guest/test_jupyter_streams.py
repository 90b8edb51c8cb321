"""What a prepared Jupyter kernel prints reaches the cell that printed it, also when an interrupt strikes meanwhile."""

import os
from collections.abc import Iterator

import pytest

from pisces.guest.jupyter_streams import Captured, OrderedStreams


class Stream:
    """As ipykernel's: what was written waits for a flush. Here each of those can be interrupted."""

    def __init__(self) -> None:
        self.waiting = ""
        self.sent = ""
        self.interrupts = 0

    def write(self, text: str) -> None:
        self.waiting += text

    def flush(self) -> None:
        if self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt
        self.sent += self.waiting
        self.waiting = ""


@pytest.fixture
def pipes() -> Iterator[tuple[int, int]]:
    ends = [os.pipe(), os.pipe()]
    for read, _ in ends:
        os.set_blocking(read, False)
    yield ends[0][0], ends[1][0]
    for pair in ends:
        for end in pair:
            os.close(end)


def test_what_an_interrupt_kept_from_being_sent_is_sent_at_the_end_of_the_cell(pipes: tuple[int, int]) -> None:
    out, err = Stream(), Stream()
    captured = [Captured(stream, -1, pipe) for stream, pipe in zip((out, err), pipes, strict=True)]
    streams = OrderedStreams(captured)
    for one in captured:
        streams.replace_write(one)
    out.write("ready")
    out.interrupts = 1
    with pytest.raises(KeyboardInterrupt):
        out.flush()
    streams.settle()
    assert (out.sent, out.waiting) == ("ready", "")
