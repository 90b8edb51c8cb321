"""The requests over HTTP that are under way: let in, read to their end, heard when their client hangs up.

Above is the HTTP server, below is the SDK's manager of sessions; both speak ASGI. It knows neither.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final

import anyio
import anyio.lowlevel

from pisces.mcp.http.guard import FAILED, LARGEST_BODY, STOPPING, TOO_LARGE, TOO_SLOW, Guard, Head, Refusal

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LET_IN: Final = "pisces.let_in"
"""In the scope of a request that shows the token."""
HUNG_UP: Final = "pisces.hung_up"
"""In the scope of a request: the event that is set when its client hangs up."""

_BODY_SECONDS: Final = 30.0
"""For the whole body to come."""
_SEND_SECONDS: Final = 60.0
"""For a client to take what it is sent: one that does not read is as good as gone."""
_LAST_SECONDS: Final = 0.5
"""For calls that were stopped to be answered, when the server ends."""
_GONE: Final = "http.disconnect"

_log = logging.getLogger(__name__)


class Requests:
    """Takes the requests, and hands on those that may be."""

    def __init__(self, app: App, guard: Guard, *, deleted: Callable[[Head], Awaitable[None]]) -> None:
        """`deleted` is told of the head of each request by which a client has ended its session."""
        self._app = app
        self._guard = guard
        self._deleted = deleted
        self._open: set[_Exchange] = set()
        self._closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Nothing is raised."""
        head = Head.of(scope)
        if (refusal := self._guard.refusal(head)) is not None:
            await _refuse(send, refusal)
            return
        scope[LET_IN] = True
        if self._closed:
            await _refuse(send, STOPPING)
            return
        exchange = _Exchange(head, receive, send)
        self._open.add(exchange)
        try:
            await exchange.carry_out(self._app, scope)
            if head.method == "DELETE" and exchange.status == 200:
                await self._deleted(head)
        finally:
            self._open.discard(exchange)
            exchange.done.set()

    async def close(self) -> None:
        """Stop what runs, give the answers a moment to be sent, and tell everybody else that it is over."""
        self._closed = True
        under_way = list(self._open)
        for exchange in under_way:
            exchange.hung_up.set()
        with anyio.move_on_after(_LAST_SECONDS):
            for exchange in under_way:
                if exchange.head.method == "POST":
                    await exchange.done.wait()
        with anyio.move_on_after(_LAST_SECONDS):
            async with anyio.create_task_group() as group:  # One that takes nothing must not keep it from the others.
                for exchange in under_way:
                    group.start_soon(exchange.refuse_if_unanswered)
        for exchange in under_way:
            exchange.scope.cancel()


class _Exchange:
    """One request and its answer."""

    def __init__(self, head: Head, receive: Receive, send: Send) -> None:
        self.head = head
        self.scope = anyio.CancelScope()
        self.hung_up = anyio.Event()
        self.done = anyio.Event()
        self.status: int | None = None
        """What was answered, once that has begun."""
        self._pass_on = receive
        self._send_on = send
        self._body: bytes | None = None

    async def carry_out(self, app: App, scope: Mapping[str, Any]) -> None:
        with self.scope:
            try:
                refusal = await self._read()
                if refusal is not None:
                    await _refuse(self._send, refusal)
                elif not self.hung_up.is_set():
                    await app({**scope, HUNG_UP: self.hung_up}, self._receive, self._send)
            except Exception:  # noqa: BLE001 - the log has it; one request must not end the server
                _log.exception("a request over HTTP was given up")
                if self.status is None:
                    await _refuse(self._send, FAILED)

    async def refuse_if_unanswered(self) -> None:
        """A cell that will not stop settles later, when nobody can be answered any more."""
        if self.status is None and not self.done.is_set():
            await _refuse(self._send, STOPPING)

    async def _read(self) -> Refusal | None:
        """Take the body; or why it is not taken."""
        pieces = bytearray()
        with anyio.move_on_after(_BODY_SECONDS):
            while True:
                message = await self._pass_on()
                if message["type"] == _GONE:
                    self.hung_up.set()
                    return None
                pieces += message.get("body", b"")
                if len(pieces) > LARGEST_BODY:
                    return TOO_LARGE
                if not message.get("more_body", False):
                    self._body = bytes(pieces)
                    return None
        return TOO_SLOW

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self._pass_on()
        if message["type"] == _GONE:
            self.hung_up.set()
        return message

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        with anyio.move_on_after(_SEND_SECONDS) as patience:
            await self._send_on(message)
        if patience.cancelled_caught:
            self.hung_up.set()
            self.scope.cancel()
            await anyio.lowlevel.checkpoint()


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = refusal.text.encode()
    headers = [("Content-Length", str(len(body))), *refusal.headers]
    if body:
        headers.append(("Content-Type", "text/plain; charset=utf-8"))
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body, "more_body": False})
