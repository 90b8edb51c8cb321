"""A plain TCP relay in front of a real server, which a test can have cut, stall, swallow or refuse."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext
from urllib.parse import urlsplit

import anyio
from anyio.abc import ByteStream, Listener
from anyio.streams.tls import TLSListener

LOST = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)


class CuttingProxy:
    """Between a client and a server; `url` is where the client finds it."""

    def __init__(self, host: str, port: int) -> None:
        self.url = ""
        self.refusing = False
        """Whether connections are closed as soon as they are made."""
        self.swallowing = False
        """Whether what the server says goes no further: it is what a broken connection had under way."""
        self.accepted = 0
        self.swallowed = 0
        self._server = (host, port)
        self._open: set[ByteStream] = set()
        self._flow = anyio.Event()
        self._flow.set()

    async def cut(self) -> None:
        """Break every connection at once, on both sides."""
        for stream in list(self._open):
            await anyio.aclose_forcefully(stream)

    def stall(self) -> None:
        """Keep every connection and pass on nothing."""
        self._flow = anyio.Event()

    def go_on(self) -> None:
        """Pass on again."""
        self._flow.set()

    async def serve(self, client: ByteStream) -> None:
        """Relay one connection."""
        self.accepted += 1
        if self.refusing:
            await anyio.aclose_forcefully(client)
            return
        try:
            server = await anyio.connect_tcp(*self._server)
        except OSError:
            await anyio.aclose_forcefully(client)
            return
        self._open |= {client, server}
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._relay, client, server, False)
                group.start_soon(self._relay, server, client, True)
        finally:
            self._open -= {client, server}
            with anyio.CancelScope(shield=True):
                await anyio.aclose_forcefully(client)
                await anyio.aclose_forcefully(server)

    async def _relay(self, source: ByteStream, target: ByteStream, down: bool) -> None:
        try:
            while True:
                data = await source.receive()
                await self._flow.wait()
                if down and self.swallowing:
                    self.swallowed += len(data)
                else:
                    await target.send(data)
        except LOST:
            # One side is gone; so is the other then.
            await anyio.aclose_forcefully(source)
            await anyio.aclose_forcefully(target)


@asynccontextmanager
async def cutting_proxy(url: str, *, tls: SSLContext | None = None) -> AsyncIterator[CuttingProxy]:
    """A proxy in front of the server at this address; with `tls`, what comes to it is encrypted."""
    parts = urlsplit(url)
    proxy = CuttingProxy(parts.hostname or "", parts.port or 80)
    listening = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listening.extra(anyio.abc.SocketAttribute.local_port)
    listener: Listener[ByteStream] = listening if tls is None else TLSListener(listening, tls, False)
    proxy.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{port}"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, proxy.serve)
        yield proxy
        group.cancel_scope.cancel()
