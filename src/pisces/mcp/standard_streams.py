"""Standard input and output as lines, read and written by the event loop itself.

The SDK's own way hands each line to a thread and back, which costs a tenth of a millisecond each, and a thread that
waits for a line cannot be told to stop. It is kept for what a loop cannot wait for: files and terminals.
"""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Final, Self

import anyio

_LONGEST_LINE: Final = 64 * 1024 * 1024
"""More than that in one message is no call, and would be held in memory whole."""


class LineTooLong(Exception):
    """The client sends something that has no end."""


class StandardStreams:
    """While entered, descriptor 0 is empty and 1 leads to standard error: what a library prints hurts nobody."""

    def __init__(self) -> None:
        self.incoming: Any = None
        """Lines of text, to iterate over."""
        self.outgoing: Any = None
        """Has `write` and `flush`, both to be awaited."""
        self._private = (-1, -1)

    def __enter__(self) -> Self:
        self._private = (os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for standard, private in enumerate(self._private):
            os.dup2(private, standard)
            os.close(private)

    async def open(self) -> None:
        """Have the streams, in the event loop that runs now."""
        read, write = self._private
        self.incoming = await _Lines.of(read) if _can_wait_for(read) else _file(read, "r")
        self.outgoing = await _Writer.of(write) if _can_wait_for(write) else _file(write, "w")


def _can_wait_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _file(descriptor: int, mode: str) -> Any:
    return anyio.wrap_file(os.fdopen(os.dup(descriptor), mode, encoding="utf-8", errors="replace", newline="\n"))


class _Lines:
    """What comes from a pipe."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    @classmethod
    async def of(cls, descriptor: int) -> Self:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_LONGEST_LINE, loop=loop)
        pipe = os.fdopen(os.dup(descriptor), "rb", buffering=0)  # The transport closes it.
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), pipe)
        return cls(reader)

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._line():
            yield line.decode("utf-8", "replace")

    async def _line(self) -> bytes:
        try:
            return await self._reader.readline()
        except ValueError as error:
            raise LineTooLong(f"A message is longer than {_LONGEST_LINE} bytes") from error


class _Writer:
    """What goes into a pipe; whoever writes waits until there is room."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    @classmethod
    async def of(cls, descriptor: int) -> Self:
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(os.dup(descriptor), "wb", buffering=0)
        transport, protocol = await loop.connect_write_pipe(lambda: asyncio.streams.FlowControlMixin(loop=loop), pipe)
        return cls(asyncio.StreamWriter(transport, protocol, None, loop))

    async def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8"))

    async def flush(self) -> None:
        try:
            await self._writer.drain()
        except ConnectionError:
            pass  # The client has gone: the end of what it sends says so too, and ends everything.
