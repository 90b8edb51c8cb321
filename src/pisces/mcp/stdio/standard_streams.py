"""Standard input and output as lines, read and written by the event loop itself.

The SDK's own way hands each line to a thread and back, which costs a tenth of a millisecond each, and a thread that
waits for a line cannot be told to stop. It is kept for what a loop cannot wait for: files.
"""

import asyncio
import os
import socket
import stat
from types import TracebackType
from typing import Any, Final, Self

import anyio

from pisces.mcp.stdio.client_lines import ClientLines

_LEFT_LYING: Final = 64 * 1024
"""Bytes from which on answers pile up: the client does not take them."""


class StandardStreams:
    """While entered, descriptor 0 is empty and 1 leads to standard error: what a library prints hurts nobody."""

    def __init__(self) -> None:
        self.incoming: Any = None
        """Lines of text, to iterate over."""
        self.outgoing: Any = None
        """Has `write` and `flush`, both to be awaited."""
        self.deaf = anyio.Event()
        """Set when nobody is there any more to read what is written."""
        self._private = (-1, -1)
        self._transports: list[asyncio.BaseTransport] = []

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
        for transport in self._transports:
            if transport.is_closing():
                continue
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()  # What is left has had its time: closing would wait for whoever does not read.
            else:
                transport.close()
        for standard, private in enumerate(self._private):
            os.dup2(private, standard)
            os.close(private)

    async def open(self) -> None:
        """Have the streams, in the event loop that runs now."""
        read, write = self._private
        if _same_socket(read, write):
            reader, writer = await _both_ways(read)
            self._transports.append(writer.transport)
            self.outgoing = _Writer(writer)
            self.incoming = ClientLines(reader, self.outgoing)
            return
        if _can_wait_for(write):
            writer = await _writer(write, self.deaf)
            self._transports.append(writer.transport)
            self.outgoing = _Writer(writer)
        else:
            self.outgoing = _file(write, "w")
        if _can_wait_for(read):
            reader, transport = await _reader(read)
            self._transports.append(transport)
            self.incoming = ClientLines(reader, self.outgoing)
        else:
            self.incoming = _file(read, "r")


def _can_wait_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _our_own(descriptor: int) -> int:
    """A descriptor that may be made not to block. A terminal is opened anew: others would not block there either."""
    return os.open(os.ttyname(descriptor), os.O_RDWR | os.O_NOCTTY) if os.isatty(descriptor) else os.dup(descriptor)


def _same_socket(read: int, write: int) -> bool:
    """Whether one socket is both: a pipe's transport would take what comes for the end of whoever reads."""
    one, other = os.fstat(read), os.fstat(write)
    return stat.S_ISSOCK(one.st_mode) and os.path.samestat(one, other)


def _file(descriptor: int, mode: str) -> Any:
    wrapped: Any = anyio.wrap_file(
        os.fdopen(os.dup(descriptor), mode, encoding="utf-8", errors="replace", newline="\n")
    )
    return wrapped if mode == "r" else _FileWriter(wrapped)


async def _both_ways(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = ClientLines.reader()
    transport, protocol = await loop.create_connection(
        lambda: asyncio.StreamReaderProtocol(reader, loop=loop), sock=socket.socket(fileno=os.dup(descriptor))
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


async def _reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    loop = asyncio.get_running_loop()
    reader = ClientLines.reader()
    pipe = os.fdopen(_our_own(descriptor), "rb", buffering=0)  # The transport closes it.
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), pipe)
    return reader, transport


async def _writer(descriptor: int, deaf: anyio.Event) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(_our_own(descriptor), "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(lambda: _Outlet(loop, deaf), pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _Outlet(asyncio.streams.FlowControlMixin):
    """Hears when whoever reads a pipe has closed it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, deaf: anyio.Event) -> None:
        super().__init__(loop=loop)
        self._deaf = deaf

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._deaf.set()


class _Writer:
    """What goes into a pipe; whoever writes waits until there is room."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    @property
    def stuck(self) -> bool:
        return self._writer.transport.get_write_buffer_size() > _LEFT_LYING

    async def write(self, text: str) -> None:
        if not self._writer.transport.is_closing():
            self._writer.write(text.encode("utf-8"))

    async def flush(self) -> None:
        try:
            await self._writer.drain()
        except ConnectionError:
            pass  # The client has gone: the end of what it sends says so too, and ends everything.


class _FileWriter:
    """What goes into a file."""

    stuck = False

    def __init__(self, file: Any) -> None:
        self._file = file

    async def write(self, text: str) -> None:
        await self._file.write(text)

    async def flush(self) -> None:
        await self._file.flush()
