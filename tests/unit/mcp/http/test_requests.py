"""Requests under way: read whole, given up when nobody takes the answer, stopped when the server ends.

The HTTP server and the SDK are played by the test here, because neither can be made to stand still at will.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from pisces.mcp.http import requests as http_requests
from pisces.mcp.http.guard import Guard, Head
from pisces.mcp.http.requests import HUNG_UP, App, Message, Receive, Requests, Scope, Send
from pisces.mcp.http.token import Token
from tests.fakes.drive import PATIENCE

SECRET = "a-secret-of-some-length"


class Exchange:
    """The HTTP server's side of one request: pieces of a body, then silence until the client hangs up."""

    def __init__(self, *pieces: bytes, method: str = "POST", whole: bool = True) -> None:
        headers = {"host": "here", "authorization": f"Bearer {SECRET}", "content-type": "application/json"}
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.scope: Scope = {"type": "http", "method": method, "path": "/mcp", "headers": encoded}
        self.sent: list[Message] = []
        self.hangs_up = anyio.Event()
        self.takes = anyio.Event()
        self.takes.set()
        self._pieces = list(pieces or (b"",))
        self._whole = whole

    async def receive(self) -> Message:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces) or not self._whole}
        await self.hangs_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.takes.wait()
        self.sent.append(message)

    @property
    def status(self) -> int | None:
        return next((message["status"] for message in self.sent if "status" in message), None)


async def _nothing(head: Head) -> None:
    raise AssertionError("nobody has ended a session")


def requests(app: App, *, deleted: Callable[[Head], Awaitable[None]] = _nothing) -> Requests:
    return Requests(app, Guard({"here"}, Token(SECRET, "the test")), deleted=deleted)


async def answer(send: Send, status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def carry_out(app: App, exchange: Exchange, **options: Any) -> None:
    with anyio.fail_after(PATIENCE):
        await requests(app, **options)(exchange.scope, exchange.receive, exchange.send)


async def test_a_body_in_pieces_is_handed_on_whole() -> None:
    bodies: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        bodies.append(await receive())
        await answer(send)

    exchange = Exchange(b'{"a":', b"", b" 1}")
    await carry_out(app, exchange)
    assert bodies == [{"type": "http.request", "body": b'{"a": 1}', "more_body": False}]
    assert exchange.status == 200


async def test_whoever_hangs_up_before_the_end_of_the_body_has_asked_for_nothing() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("half a request was handed on")

    exchange = Exchange(b"{", whole=False)
    exchange.hangs_up.set()
    await carry_out(app, exchange)
    assert exchange.sent == []


async def test_a_client_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_requests, "_SEND_SECONDS", 0.05)
    events: list[anyio.Event] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        events.append(scope[HUNG_UP])
        await answer(send)
        raise AssertionError("what nobody takes was held for sent")

    exchange = Exchange()
    exchange.takes = anyio.Event()
    await carry_out(app, exchange)
    assert events[0].is_set()
    assert exchange.sent == []


@pytest.mark.parametrize(("begun", "seen"), [(False, 500), (True, 200)])
async def test_what_goes_wrong_ends_one_request_only(begun: bool, seen: int) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("a fault of ours")

    exchange = Exchange()
    await carry_out(app, exchange)
    assert exchange.status == seen
    assert not any(b"fault" in message.get("body", b"") for message in exchange.sent)


@pytest.mark.parametrize(("method", "status", "told"), [("DELETE", 200, 1), ("DELETE", 404, 0), ("GET", 200, 0)])
async def test_only_a_client_that_ended_its_session_is_told_of(method: str, status: int, told: int) -> None:
    heads: list[Head] = []

    async def deleted(head: Head) -> None:
        heads.append(head)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, status)

    await carry_out(app, Exchange(method=method), deleted=deleted)
    assert len(heads) == told


async def test_the_end_stops_calls_waits_for_their_answers_and_hangs_up_on_streams() -> None:
    stopped = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await anyio.sleep_forever()
        await scope[HUNG_UP].wait()
        stopped.set()
        await answer(send)

    serving = requests(app)
    call, stream, late = Exchange(), Exchange(method="GET"), Exchange()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            for exchange in (call, stream):
                group.start_soon(serving, exchange.scope, exchange.receive, exchange.send)
            await anyio.wait_all_tasks_blocked()
            await serving.close()
            assert stopped.is_set()
    assert len(call.sent) == 2
    assert len(stream.sent) == 1
    await serving(late.scope, late.receive, late.send)
    assert late.status == 503


async def test_the_end_is_told_to_whoever_has_no_answer_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_requests, "_LAST_SECONDS", 0.05)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await anyio.sleep_forever()  # As for a cell that does not stop.

    serving = requests(app)
    call, unread, half = Exchange(), Exchange(), Exchange(b"{", whole=False)
    unread.takes = anyio.Event()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            for exchange in (call, half, unread):
                group.start_soon(serving, exchange.scope, exchange.receive, exchange.send)
            await anyio.wait_all_tasks_blocked()
            await serving.close()
    assert [exchange.status for exchange in (call, half, unread)] == [503, 503, None]
