"""One connection to the bridge: requests by HTTP/1.1, one after the other, each answered before the next is read."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import h11
from anyio.abc import SocketStream

from pisces.bridge.desk import Desk, Head
from pisces.bridge.lease import Caller, ToolCall
from pisces.bridge.wire import Reply

LARGEST: Final = 16 * 1024 * 1024
"""Bytes that a request may have."""
_FIRST_SECONDS: Final = 3.0
"""For whoever connects to say so: anybody on this machine can, and holds a place meanwhile."""
_HEAD_SECONDS: Final = 10.0
"""For a request to say who asks for what; and how long a connection may say nothing between two."""
_PIECE_SECONDS: Final = 10.0
"""For the next piece of a body to come."""
_SEND_SECONDS: Final = 30.0
_LINGER_SECONDS: Final = 2.0
_READ: Final = 65536
_GONE: Final = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

_log = logging.getLogger(__name__)


class _Refused(Exception):
    """The request gets this answer, and the connection no other."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class Connection:
    """Serves whoever has connected, until they hang up or do what cannot be understood."""

    def __init__(self, stream: SocketStream, desk: Desk, admitted: Callable[[], Awaitable[None]]) -> None:
        """`admitted` is called once, when the first request has shown a token; it may wait."""
        self._stream = stream
        self._admitted = admitted
        self._is_admitted = False
        self._desk = desk
        self._http = h11.Connection(h11.SERVER)
        self._wants_head_only = False
        self._served = False
        """Whether one of its requests was answered."""
        self._ahead = b""
        """What has come while a request was answered, and h11 has not been given yet."""

    async def serve(self) -> None:
        """Answer requests. Raises nothing: what goes wrong here is of interest to nobody else."""
        try:
            while await self._serve_one():
                self._http.start_next_cycle()
                if self._ahead:
                    self._http.receive_data(self._ahead)
                    self._ahead = b""
        except _GONE as error:
            _log.debug("a caller of tools hung up: %s", type(error).__name__)
        except Exception:  # noqa: BLE001 - the log has it; one connection must not end the runtime
            _log.exception("a connection to the tool bridge was given up")

    async def _serve_one(self) -> bool:
        """Answer one request. False if there is none any more, or the connection is good for no other."""
        try:
            head = await self._head()
            if head is None:
                return False
            caller = self._desk.caller(head)
            if isinstance(caller, Reply):
                raise _Refused(caller)
            if not self._is_admitted:
                self._is_admitted = True
                await self._admitted()
            reply = await self._answer(head, caller, await self._body())
        except h11.RemoteProtocolError as error:
            await self._send_last(Reply.refusal(error.error_status_hint, f"This is no request: {error}"))
            return False
        except _Refused as refused:
            await self._send_last(refused.reply)
            return False
        if reply is None:
            return False
        await self._send(reply)
        self._served = True
        return self._http.our_state is h11.DONE

    async def _head(self) -> Head | None:
        """The next request; None if the caller says nothing more."""
        with anyio.move_on_after(_HEAD_SECONDS if self._served else _FIRST_SECONDS):
            event = await self._event()
            if not isinstance(event, h11.Request):
                return None
            self._wants_head_only = event.method == b"HEAD"
            headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers)
            return Head(event.method.decode("latin-1"), event.target.decode("latin-1"), headers)
        if self._http.trailing_data[0]:
            raise _Refused(Reply.refusal(408, "The request did not come to its end in time"))
        return None

    async def _body(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        if self._http.they_are_waiting_for_100_continue:
            await self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])))
        while True:
            with anyio.move_on_after(_PIECE_SECONDS) as patience:
                event = await self._event()
            if patience.cancelled_caught:
                raise _Refused(Reply.refusal(408, "The body did not come to its end in time"))
            if not isinstance(event, h11.Data):
                return b"".join(pieces)
            size += len(event.data)
            if size > LARGEST:
                raise _Refused(Reply.refusal(413, f"The body is larger than {LARGEST} bytes"))
            pieces.append(bytes(event.data))

    async def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            try:
                self._http.receive_data(await self._stream.receive(_READ))
            except anyio.EndOfStream:
                self._http.receive_data(b"")
        return event

    async def _answer(self, head: Head, caller: Caller, body: bytes) -> Reply | None:
        """What comes of the request; None if the caller hangs up before that, which stops what it asked for."""
        call = ToolCall()
        reply: Reply | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, call)
            reply = await self._desk.answer(head, caller, body, call)
            group.cancel_scope.cancel()
        return reply

    async def _watch(self, call: ToolCall) -> None:
        """Hear the caller hang up. What comes meanwhile is of the next request, and follows what h11 has of it."""
        try:
            while len(self._ahead) < _READ:
                self._ahead += await self._stream.receive(_READ)
        except _GONE:
            call.give_up()

    async def _send(self, reply: Reply, *, last: bool = False) -> None:
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(reply.body)))]
        if last:
            headers.append(("Connection", "close"))
        response = h11.Response(status_code=reply.status, headers=headers)
        # In one piece: a second one would wait until the first has been acknowledged.
        data = [self._http.send(response)]
        if not self._wants_head_only:
            data.append(self._http.send(h11.Data(data=reply.body)))
        data.append(self._http.send(h11.EndOfMessage()))
        await self._write(b"".join(piece for piece in data if piece))

    async def _send_last(self, reply: Reply) -> None:
        """Send a refusal and close. What still comes is thrown away: closing on it would take the refusal back."""
        await self._send(reply, last=True)
        await self._stream.send_eof()
        with anyio.move_on_after(_LINGER_SECONDS):
            while True:
                await self._stream.receive(_READ)

    async def _write(self, data: bytes | None) -> None:
        with anyio.move_on_after(_SEND_SECONDS) as patience:
            await self._stream.send(data or b"")
        if patience.cancelled_caught:
            raise anyio.BrokenResourceError
