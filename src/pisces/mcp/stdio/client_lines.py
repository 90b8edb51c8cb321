"""What a client sends, line by line: as much at a time as can be answered, and no line that has no end."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Final, Protocol

_LONGEST: Final = 64 * 1024 * 1024
"""More than that in one message is no call, and would be held in memory whole."""
_AT_A_TIME: Final = 256 * 1024
"""Twice that is taken from the pipe before anybody asks for it."""
_MOST_LINES: Final = 4000
_MOST_BYTES: Final = 16 * 1024 * 1024
"""How much is taken of a client that does not take its answers: they are kept until it does."""
_EDGE: Final = 4096
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")\s*'
_FIRST_ID: Final = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*' + _ID + rb"[,}]")
_LAST_ID: Final = re.compile(rb"[{,]\s*" + _ID + rb"\}\s*\Z")


class Outgoing(Protocol):
    """Where answers go."""

    @property
    def stuck(self) -> bool:
        """Whether the client leaves them lying."""

    async def write(self, text: str) -> None:
        """Write whole lines."""

    async def flush(self) -> None:
        """Wait until the client has taken enough of them."""


class ClientLines:
    """The lines of a client. One that is too long is answered here, with an error, and left out."""

    def __init__(self, reader: asyncio.StreamReader, outgoing: Outgoing) -> None:
        self._reader = reader
        self._outgoing = outgoing

    @staticmethod
    def reader() -> asyncio.StreamReader:
        """What is to be filled with what the client sends."""
        return asyncio.StreamReader(limit=_AT_A_TIME, loop=asyncio.get_running_loop())

    async def __aiter__(self) -> AsyncIterator[str]:
        lines = size = 0
        while line := await self._line():
            yield line.decode("utf-8", "replace")
            lines, size = (lines + 1, size + len(line)) if self._outgoing.stuck else (0, 0)
            if lines > _MOST_LINES or size > _MOST_BYTES:
                await self._outgoing.flush()

    async def _line(self) -> bytes:
        while True:
            piece, whole = await self._piece()
            line = piece if whole else await self._rest(piece)
            if line is not None:
                return line

    async def _piece(self) -> tuple[bytes, bool]:
        """A line, or as much of it as is read at a time; whether it is all of it, or the rest."""
        try:
            return await self._reader.readuntil(), True
        except asyncio.LimitOverrunError as longer:
            return await self._reader.readexactly(longer.consumed), False
        except asyncio.IncompleteReadError as ended:
            return ended.partial, True

    async def _rest(self, first: bytes) -> bytes | None:
        """A long line. None for one that is too long, of which no more than its edges are kept."""
        held, last, size, whole = bytearray(first), first, len(first), False
        while not whole:
            piece, whole = await self._piece()
            size += len(piece)
            last = (last[-_EDGE:] + piece)[-_EDGE:]
            if size <= _LONGEST:
                held += piece
            else:
                del held[_EDGE:]
        if size <= _LONGEST:
            return bytes(held)
        await self._refuse(bytes(held), last)
        return None

    async def _refuse(self, first: bytes, last: bytes) -> None:
        number = id_of(first + b"..." + last)
        said = f"The message is longer than {_LONGEST >> 20} MB: it was not read"
        answer = {"jsonrpc": "2.0", "id": number, "error": {"code": -32600, "message": said}}
        await self._outgoing.write(json.dumps(answer) + "\n")


def id_of(line: bytes) -> int | str | None:
    """The id of a request that cannot be parsed: it stands first in the line, or last. None if it is not there."""
    found = _FIRST_ID.match(line[:_EDGE]) or _LAST_ID.search(line[-_EDGE:])
    if found is None:
        return None
    number: int | str = json.loads(found[1].decode("utf-8", "replace"))
    return number
