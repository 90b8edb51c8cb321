"""What is understood of a line, and what becomes of one that is not."""

import json
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from pisces.mcp.stdio.messages import NotUnderstood, messages, understood
from tests.fakes.drive import PATIENCE

PING = '{"jsonrpc":"2.0","id":%s,"method":"ping"}'


def test_messages_of_every_kind_are_understood() -> None:
    assert isinstance(understood(PING % 1), JSONRPCRequest)
    assert isinstance(understood('{"jsonrpc":"2.0","method":"notifications/x"}'), JSONRPCNotification)
    assert isinstance(understood('{"jsonrpc":"2.0","id":1,"result":{}}'), JSONRPCResponse)


@pytest.mark.parametrize(
    ("text", "read"),
    [(r"a\ud83d", "a\ufffd"), (r"\ude00 b", "\ufffd b"), (r"\ud83d\ude00", "😀"), (r"\\ud83d", r"\ud83d")],
    ids=["first-half", "second-half", "both-halves", "no-escape"],
)
def test_half_a_character_is_replaced_and_the_rest_stays(text: str, read: str) -> None:
    message = understood(f'{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"text":"{text}"}}}}')
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"text": read}


def test_a_mark_of_byte_order_is_no_part_of_the_message() -> None:
    assert understood("\ufeff" + PING % 1) == understood(PING % 1)


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("no JSON", []),
        ("{}", []),
        ("null", []),
        ('{"jsonrpc":"1.0","id":7,"method":"ping"}', [7]),
        ('{"jsonrpc":"2.0","id":"p","method":"x","params":[1]}', ["p"]),
        (f"[{PING % 1},{PING % 2}]", [1, 2]),
        ('{"jsonrpc":"2.0","id":8,"method":"x","params":' + "[" * 100_000, [8]),
        ('{"jsonrpc":"2.0","id":9,"method":"cut o', [9]),
    ],
)
def test_what_is_no_message_is_refused_with_the_ids_that_it_has(line: str, numbers: list[Any]) -> None:
    with pytest.raises(NotUnderstood) as refused:
        understood(line)
    assert refused.value.numbers == numbers


class Written:
    """What went to the client."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def write(self, text: str) -> None:
        self.lines.append(text)

    async def flush(self) -> None:
        await anyio.lowlevel.checkpoint()


async def sent(*lines: str) -> Any:
    for line in lines:
        yield line


async def test_good_messages_reach_the_server_and_bad_ones_are_answered() -> None:
    written = Written()
    with anyio.fail_after(PATIENCE):
        lines = sent(PING % 1, f"[{PING % 2}]", "noise", PING % 3)
        async with messages(lines, written) as (incoming, outgoing), incoming, outgoing:
            numbers = [each.message.id async for each in incoming]
            await outgoing.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={})))
    assert numbers == [1, 3]
    refused, answer = (json.loads(line) for line in written.lines)
    assert (refused["id"], refused["error"]["code"]) == (2, -32600)
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert all(line.endswith("\n") for line in written.lines)


async def test_a_server_that_has_ended_takes_no_more() -> None:
    with anyio.fail_after(PATIENCE):
        async with messages(sent(*[PING % 1] * 10), Written()) as (incoming, outgoing), incoming, outgoing:
            await incoming.receive()
