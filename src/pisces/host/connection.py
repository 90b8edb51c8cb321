"""One client of the host, as the host sees it: lines in, lines out, and whether it is still there."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from pisces.host.protocol import MAX_REQUEST, NotUnderstood, Reply, Request, decode_request, encode


class Connection:
    """Sends and receives messages. A client that has gone is no error: it is answered with silence."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._lines = BufferedByteReceiveStream(stream)
        self.gone = False
        """Whether the client has hung up."""
        self._answered = anyio.Event()
        self._answered.set()

    @contextmanager
    def working(self) -> Iterator[None]:
        """While entered, the client waits for an answer."""
        self._answered = anyio.Event()
        try:
            yield
        finally:
            self._answered.set()

    async def answered(self) -> None:
        """Wait until the client waits for nothing."""
        await self._answered.wait()

    async def send(self, message: Reply) -> None:
        """Send a message, and wait until the client has room for it."""
        if self.gone:
            return
        try:
            await self._stream.send(encode(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.gone = True

    async def receive(self) -> Request | None:
        """The next request; None when the client has hung up. Cancelling it loses nothing."""
        try:
            return decode_request(await self._lines.receive_until(b"\n", MAX_REQUEST))
        except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.gone = True
            return None
        except anyio.DelimiterNotFound:
            raise NotUnderstood(f"The request is longer than {MAX_REQUEST} bytes") from None
