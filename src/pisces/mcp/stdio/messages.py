"""The messages of one client at two pipes. What cannot be understood is refused by its id: nobody waits for ever.

The SDK's own way drops such lines without a word.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from pisces.mcp.stdio.client_lines import id_of

_HALF: Final = re.compile(r"[\ud800-\udfff]")
_NO_CHARACTER: Final = "\ufffd"
_MARK: Final = "\ufeff"
_WHY: Final = "This is no message of the protocol"


class NotUnderstood(Exception):
    """A line that is no message; `numbers` are the ids of the requests in it, as far as they can be told."""

    def __init__(self, numbers: list[int | str]) -> None:
        super().__init__(_WHY)
        self.numbers = numbers


@asynccontextmanager
async def messages(
    incoming: Any, outgoing: Any
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[SessionMessage]]]:
    """What comes from the client and what goes to it, for the SDK's server."""
    to_server, from_client = anyio.create_memory_object_stream[Any](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_read, incoming, to_server, outgoing)
        group.start_soon(_write, from_server, outgoing)
        yield from_client, to_client


async def _read(incoming: Any, to_server: MemoryObjectSendStream[Any], outgoing: Any) -> None:
    async with to_server:
        async for line in incoming:
            try:
                message = understood(line)
            except NotUnderstood as error:
                for number in error.numbers:
                    await outgoing.write(_refusal(number))
                continue
            try:
                await to_server.send(SessionMessage(message))
            except anyio.BrokenResourceError:
                return  # The server has ended.


async def _write(from_server: MemoryObjectReceiveStream[SessionMessage], outgoing: Any) -> None:
    async with from_server:
        async for each in from_server:
            await outgoing.write(each.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n")
            await outgoing.flush()


def understood(line: str) -> JSONRPCMessage:
    """The message in a line. Half a character (a lone surrogate) is replaced as a whole. Raises `NotUnderstood`."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return _understood_otherwise(line)


def _understood_otherwise(line: str) -> JSONRPCMessage:
    """JSON that the fast parser does not take: JavaScript writes half a character as an escape, which Python reads."""
    try:
        value = json.loads(line.removeprefix(_MARK))
        whole = _HALF.sub(_NO_CHARACTER, json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError):
        found = id_of(line.encode("utf-8", "replace"))
        raise NotUnderstood([] if found is None else [found]) from None
    try:
        return jsonrpc_message_adapter.validate_json(whole, by_name=False)
    except ValueError:
        raise NotUnderstood(_numbers(value)) from None


def _numbers(value: Any) -> list[int | str]:
    """The ids of requests in what is no message: several together, or one with parameters that cannot be."""
    each_one = value if isinstance(value, list) else [value]
    found = [each["id"] for each in each_one if isinstance(each, dict) and "method" in each and "id" in each]
    return [number for number in found if isinstance(number, int | str) and not isinstance(number, bool)]


def _refusal(number: int | str) -> str:
    error = JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=INVALID_REQUEST, message=_WHY))
    return error.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
