"""One client of the host, as the host sees it: lines in, lines out, and whether it is still there."""

from collections import deque
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
        self._unsent: deque[bytes] = deque()
        self._work = anyio.Event()
        self._all_sent = anyio.Event()

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
        """Send a message, and wait until the client has room for it. Cancelling the wait does not take it back.

        Half a message would spoil all that follow, so nobody but `write` waits for the socket.
        """
        if self.gone:
            return
        self._unsent.append(encode(message))
        self._all_sent = anyio.Event()
        self._work.set()
        await self._all_sent.wait()

    async def write(self) -> None:
        """Send what there is to send, for as long as the connection lasts: the body of a task."""
        while True:
            while self._unsent:
                await self._write_line(self._unsent.popleft())
            self._all_sent.set()
            self._work = anyio.Event()
            await self._work.wait()

    async def _write_line(self, line: bytes) -> None:
        try:
            await self._stream.send(line)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.gone = True
            self._unsent.clear()

    async def receive(self) -> Request | None:
        """The next request; None when the client has hung up. Cancelling it loses nothing."""
        try:
            return decode_request(await self._lines.receive_until(b"\n", MAX_REQUEST))
        except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.gone = True
            return None
        except anyio.DelimiterNotFound:
            raise NotUnderstood(f"The request is longer than {MAX_REQUEST} bytes") from None
