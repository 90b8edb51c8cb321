"""Lines of a client, taken from a stream that is filled as a pipe fills it."""

import asyncio
import json
import tracemalloc
from typing import Any

import anyio
import pytest

from pisces.mcp.stdio import client_lines
from pisces.mcp.stdio.client_lines import ClientLines, id_of


class Answers:
    """Where answers go; `stuck` when nobody takes them."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.stuck = False
        self.waited_for = 0
        self.taken = anyio.Event()

    async def write(self, text: str) -> None:
        self.written.append(text)

    async def flush(self) -> None:
        self.waited_for += 1
        await self.taken.wait()


@pytest.fixture
def answers() -> Answers:
    return Answers()


async def lines_of(data: bytes, answers: Answers, *, at_a_time: int = 10) -> list[str]:
    """All lines of what comes in small pieces."""
    reader = ClientLines.reader()
    lines: list[str] = []

    async def send() -> None:
        for start in range(0, len(data), at_a_time):
            reader.feed_data(data[start : start + at_a_time])
            await anyio.lowlevel.checkpoint()
        reader.feed_eof()

    async with anyio.create_task_group() as group:
        group.start_soon(send)
        lines += [line async for line in ClientLines(reader, answers)]
    return lines


async def test_lines_come_whole_however_they_were_sent(answers: Answers) -> None:
    data = "one\n\nzwei ä\nlast without an end".encode()
    expected = ["one\n", "\n", "zwei ä\n", "last without an end"]
    for size in (1, 3, len(data)):
        assert await lines_of(data, answers, at_a_time=size) == expected


async def test_a_line_longer_than_is_read_at_a_time_comes_whole(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_lines, "_AT_A_TIME", 7)
    data = b"".join(b"%d" % number * number + b"\n" for number in range(100))
    assert await lines_of(data, answers) == data.decode().splitlines(keepends=True)
    assert answers.written == []


async def test_what_is_no_utf_8_does_not_end_the_stream(answers: Answers) -> None:
    assert await lines_of(b"a\xff\nb\n", answers) == ["a\ufffd\n", "b\n"]


@pytest.mark.parametrize(
    ("begin", "end", "number"),
    [
        ('{"jsonrpc":"2.0","id":17,"method":"', '"}', 17),
        ('{"method":"', '","jsonrpc":"2.0","id":"b"}', "b"),
        ('{"method":"', '","params":{"id":3}}', None),
        ('{"method":"\\"id\\":4}', '"}', None),
    ],
    ids=["id-first", "id-last", "id-of-something-else", "id-in-a-text"],
)
async def test_a_line_that_is_too_long_is_refused_by_its_id_and_the_next_is_read(
    answers: Answers, monkeypatch: pytest.MonkeyPatch, begin: str, end: str, number: Any
) -> None:
    monkeypatch.setattr(client_lines, "_AT_A_TIME", 64)
    monkeypatch.setattr(client_lines, "_LONGEST", 1000)
    long = f"{begin}{'x' * 20_000}{end}\n"
    assert await lines_of(f"before\n{long}after\n".encode(), answers, at_a_time=1000) == ["before\n", "after\n"]
    (answer,) = answers.written
    assert answer.endswith("\n")
    assert json.loads(answer)["id"] == number
    assert json.loads(answer)["error"]["code"] == -32600


async def test_of_a_line_without_end_no_more_is_held_than_a_line_may_have(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_lines, "_AT_A_TIME", 10_000)
    monkeypatch.setattr(client_lines, "_LONGEST", 100_000)
    piece = b"x" * 100_000
    reader = ClientLines.reader()

    async def send() -> None:
        for _ in range(200):
            reader.feed_data(piece)
            await anyio.wait_all_tasks_blocked()
        reader.feed_eof()

    tracemalloc.start()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(send)
            assert [line async for line in ClientLines(reader, answers)] == []
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < 20 * len(piece)


async def test_of_a_client_that_takes_no_answers_only_so_much_is_read(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_lines, "_MOST_LINES", 10)
    answers.stuck = True
    reader = asyncio.StreamReader()
    reader.feed_data(b"line\n" * 100)
    reader.feed_eof()
    lines: list[str] = []

    async def read() -> None:
        async for line in ClientLines(reader, answers):
            lines.append(line)  # noqa: PERF401 - one by one: the test looks at how many there are meanwhile

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        assert (len(lines), answers.waited_for) == (11, 1)
        answers.stuck = False
        answers.taken.set()
    assert (len(lines), answers.waited_for) == (100, 1)


def test_an_id_that_is_not_at_an_edge_is_not_guessed() -> None:
    assert id_of(b'{"method":"x","id":1,"params":[[[') is None
    assert id_of(b"") is None
