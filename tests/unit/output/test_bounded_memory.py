"""Floods: memory stays where it is and time stays short, whatever the output looks like."""

import time
import tracemalloc
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest

from pisces.output.artifacts import ArtifactStore
from pisces.output.sanitize import Sanitizer
from pisces.output.sink import OutputSink

MEBIBYTE = 1024 * 1024
LINE = ("0123456789abcdef" * 64)[:1023] + "\n"


def floods() -> Iterator[tuple[str, str, int]]:
    yield "30 MB in 1 KB lines", LINE * 64, 480
    yield "one line of 30 MB", "x" * 65536, 480
    yield "a progress bar of 30 MB", "\r100% |##########|" * 4096, 480
    yield "an escape sequence that never ends", "\x1b]" + "x" * 65534, 100
    yield "lines that all have a progress bar", "a\rb\n" * 16384, 5
    yield "a million short lines in small writes", "short\n" * 4, 250_000
    yield "characters of four bytes", "🐟🐟🐟🐟🐟🐟🐟\n" * 4096, 60


@pytest.mark.parametrize(("name", "chunk", "count"), [pytest.param(*flood, id=flood[0]) for flood in floods()])
def test_a_flood_does_not_grow_memory(
    name: str, chunk: str, count: int, tmp_path: Path, no_descriptor_is_left: None
) -> None:
    store = ArtifactStore(tmp_path)
    sanitizer, sink = Sanitizer(), OutputSink(spill=lambda: store.new("s", "python"))
    tracemalloc.start()
    try:
        total = sum(write(sink, sanitizer.feed(chunk)) for _ in repeat(None, count))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    total += write(sink, sanitizer.finish())
    sink.close()
    dump = sink.dump()
    assert peak < 4 * MEBIBYTE, name
    assert dump.total_bytes == total
    assert dump.artifact_id == "1"
    assert store.path("1").stat().st_size == total
    assert len(dump.text.encode()) < 64 * 1024


def test_a_million_short_writes_take_less_than_two_seconds() -> None:
    sanitizer, sink = Sanitizer(), OutputSink()
    began = time.process_time()
    for _ in repeat(None, 1_000_000):
        sink.write(sanitizer.feed("short\n"))
    assert sink.dump().total_lines == 1_000_000
    # Measured: 0.4 s; without gathering small writes it is 4 s.
    assert time.process_time() - began < 2


def write(sink: OutputSink, text: str) -> int:
    sink.write(text)
    return len(text.encode())
