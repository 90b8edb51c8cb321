"""A websocket to a server, on asyncio: the protocol is the library's, waiting and bounds are ours.

Frames are queued as they came, and what the queue does not hold stays in the socket, so that the sender waits: the
host's memory is bounded. No task is needed for that, and a frame that has come can be taken without waiting.
"""

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Mapping
from ssl import SSLContext
from typing import Final, cast

import anyio
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from pisces.kernels.gateway.failure import reason_of

_quiet = logging.getLogger(f"{__name__}.library")
_quiet.setLevel(logging.INFO)  # What it says below that has the headers in it, and so the token.

_HIGH: Final = 4 << 20
_LOW: Final = 1 << 20
"""Bytes that wait: reading stops above the one and goes on below the other."""
_PING_EVERY: Final = 20.0
"""Something in between may forget a connection on which nothing happens."""
_CLOSE_CAP: Final = 1.0
_SILENT_PEER: Final = 30
"""Seconds after which the system takes a peer for gone that does not even acknowledge."""


class NotConnected(Exception):
    """There is no connection; `status` is what the server answered to the handshake, None if nothing."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class WebSocket(asyncio.Protocol):
    """One connection. `take` and `wait` are for one task; sending is for any."""

    def __init__(self, protocol: ClientProtocol) -> None:
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._handshake: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._frames: deque[tuple[bytes | bytearray, bool]] = deque()
        self._waiting = 0
        self.paused = False
        """Whether so much waits that no more is read."""
        self._partial: list[Frame] = []
        self._waiter: asyncio.Future[None] | None = None
        self._pong: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._beat: asyncio.TimerHandle | None = None
        self.heard_at = self._loop.time()
        """When something came last, on the clock of the event loop."""

    @classmethod
    async def connect(
        cls, url: str, *, headers: Mapping[str, str], tls: SSLContext | None, subprotocol: str
    ) -> "WebSocket":
        """Connect; the subprotocol is offered, and used if the server takes it. Raises `NotConnected`."""
        uri = parse_uri(url)
        protocol = ClientProtocol(uri, subprotocols=[Subprotocol(subprotocol)], max_size=None, logger=_quiet)
        made = cls(protocol)
        try:
            await made._loop.create_connection(lambda: made, uri.host, uri.port, ssl=tls)
            request = protocol.connect()
            for name, value in headers.items():
                request.headers[name] = value
            protocol.send_request(request)
            made._flush()
            await made._handshake
        except OSError as error:
            made.abort()
            raise NotConnected(f"no connection: {reason_of(error)}") from error
        except BaseException:
            made.abort()
            raise
        made._keep_alive()
        return made

    @property
    def subprotocol(self) -> str:
        """The one that was agreed on; empty if none."""
        return self._protocol.subprotocol or ""

    @property
    def closed(self) -> bool:
        """Whether nothing more will come, or can be sent; what has come can still be taken."""
        return self._ended.done() or self._protocol.state is not OPEN

    def take(self) -> tuple[bytes | bytearray, bool] | None:
        """The next frame and whether it is text; None if none has come."""
        if not self._frames:
            return None
        payload, text = self._frames.popleft()
        self._waiting -= len(payload)
        if self.paused and self._waiting < _LOW and self._transport is not None:
            self.paused = False
            self._transport.resume_reading()
        return payload, text

    async def wait(self) -> None:
        """Return when there is a frame to take, or the connection is closed."""
        if self._frames or self.closed:
            return
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def wake(self) -> None:
        """Have `wait` return once, though nothing came."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def send(self, payload: bytes, *, text: bool) -> None:
        """Send a frame, which may have to wait in here: see `drain`. Raises `NotConnected`: nothing was sent then."""
        if self.closed:
            raise NotConnected("the connection is closed")
        if text:
            self._protocol.send_text(payload)
        else:
            self._protocol.send_binary(payload)
        self._flush()

    async def drain(self) -> None:
        """Return when the peer has taken most of what was sent, or the connection is closed."""
        await self._writable.wait()

    async def answers(self, within: float) -> bool:
        """Whether the peer answers a ping in that time; as good is that it has sent more than anybody read."""
        if self.closed or self.paused:
            return not self.closed
        self._pong = self._loop.create_future()
        with anyio.move_on_after(within):
            self._protocol.send_ping(b"pisces")
            self._flush()
            await self._pong
            return not self.closed
        return False

    async def close(self) -> None:
        """Close in good order, if the peer is quick about it."""
        if self._transport is None or self._ended.done():
            return
        with anyio.move_on_after(_CLOSE_CAP, shield=True):
            if not self.closed:
                self._protocol.send_close(1000)
                self._flush()
            self._transport.resume_reading()
            await asyncio.wait({self._ended})
        self.abort()

    def abort(self) -> None:
        """Close at once."""
        if self._beat is not None:
            self._beat.cancel()
        if self._transport is not None:
            self._transport.abort()
        if not self._ended.done():  # The event loop says so only at its next turn.
            self._ended.set_result(None)
        self.wake()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set up the socket: nothing waits for more to send, or to be acknowledged together."""
        self._transport = cast(asyncio.Transport, transport)
        self._socket = transport.get_extra_info("socket")
        if self._socket is None:
            return
        for level, option, value in _options():
            try:
                self._socket.setsockopt(level, option, value)
            except OSError:  # Not TCP after all, or not known to this system; it works without.
                continue

    def data_received(self, data: bytes) -> None:
        """Take in what came."""
        self.heard_at = self._loop.time()
        if _QUICKACK is not None and self._socket is not None:
            # The system forgets this option by itself. Without it, every cell costs 40 ms more.
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take_in(event)
            elif isinstance(event, Response):
                self._greeted()
        self._flush()
        if self._waiting > _HIGH and not self.paused and self._transport is not None:
            self.paused = True
            self._transport.pause_reading()
        if self._frames or self.closed:
            self.wake()

    def eof_received(self) -> None:
        """The peer sends nothing more."""
        self._protocol.receive_eof()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        if not self._ended.done():
            self._ended.set_result(None)
        if self._beat is not None:
            self._beat.cancel()
        self._protocol.receive_eof()
        if not self._handshake.done():
            self._refused(self._protocol.handshake_exc or exc)
        self._writable.set()
        self._ponged()
        self.wake()

    def pause_writing(self) -> None:
        """Too much waits to be sent."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It has gone out."""
        self._writable.set()

    # Parts of that.

    def _greeted(self) -> None:
        if self._handshake.done():
            return
        if self._protocol.handshake_exc is None:
            self._handshake.set_result(None)
        else:
            self._refused(self._protocol.handshake_exc)

    def _refused(self, error: Exception | None) -> None:
        failure = NotConnected("the connection was closed before it was open")
        if isinstance(error, InvalidStatus):
            status = error.response.status_code
            failure = NotConnected(f"the server answered {status} to the websocket", status)
        elif isinstance(error, WebSocketException):
            failure = NotConnected(f"the server does not open a websocket: {error}")
        self._handshake.set_exception(failure)
        self._handshake.exception()  # Or it is complained about when whoever waited for it has been cancelled.

    def _take_in(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PONG:
            self._ponged()
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._partial.append(frame)
            self._waiting += len(frame.data)
            if frame.fin:
                text = self._partial[0].opcode is Opcode.TEXT
                whole = frame.data if len(self._partial) == 1 else b"".join(part.data for part in self._partial)
                self._frames.append((cast(bytes | bytearray, whole), text))
                self._partial.clear()

    def _ponged(self) -> None:
        if self._pong is not None and not self._pong.done():
            self._pong.set_result(None)

    def _flush(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        for data in self._protocol.data_to_send():
            if data:
                transport.write(data)
            elif transport.can_write_eof():
                transport.write_eof()
        if self._protocol.close_expected() and self._protocol.close_rcvd is not None:
            transport.close()

    def _keep_alive(self) -> None:
        if not self.closed:
            self._protocol.send_ping(b"")
            self._flush()
            self._beat = self._loop.call_later(_PING_EVERY, self._keep_alive)


_QUICKACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)


def _options() -> list[tuple[int, int, int]]:
    """What is set on a socket, as far as the system knows it."""
    wanted = {
        "TCP_NODELAY": 1,
        "TCP_KEEPIDLE": _SILENT_PEER // 2,
        "TCP_KEEPINTVL": _SILENT_PEER // 6,
        "TCP_KEEPCNT": 3,
        "TCP_USER_TIMEOUT": _SILENT_PEER * 1000,
    }
    known = [
        (socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in wanted.items() if hasattr(socket, name)
    ]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *known]
