"""Frames come whole and in order, memory is bounded, and a connection that is gone is known to be gone.

The other side is the server of the library itself, in the same process.
"""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

import anyio
import anyio.lowlevel
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from pisces.kernels.gateway import websocket as websocket_module
from pisces.kernels.gateway.websocket import NotConnected, WebSocket
from tests.fakes.cutting_proxy import cutting_proxy
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.servers import free_port

Handler = Callable[[ServerConnection], Awaitable[None]]
SUBPROTOCOL = "v1.test"


async def until_closed(server: ServerConnection) -> None:
    await server.wait_closed()


async def connect(url: str) -> WebSocket:
    with anyio.fail_after(PATIENCE):
        return await WebSocket.connect(url, headers={"x-test": "1"}, tls=None, subprotocol=SUBPROTOCOL)


@asynccontextmanager
async def talking(handler: Handler, **options: object) -> AsyncIterator[WebSocket]:
    """A connection to a server that does this."""
    async with serve(handler, "127.0.0.1", 0, compression=None, max_size=None, **options) as server:  # type: ignore[arg-type]  # any option of the library's
        port = server.sockets[0].getsockname()[1]
        made = await connect(f"ws://127.0.0.1:{port}/api?x=1")
        try:
            yield made
        finally:
            await made.close()


async def next_frame(made: WebSocket) -> tuple[bytes, bool]:
    with anyio.fail_after(PATIENCE):
        while (frame := made.take()) is None:
            assert not made.closed
            await made.wait()
    return bytes(frame[0]), frame[1]


async def test_frames_come_back_as_they_went() -> None:
    async def echo(server: ServerConnection) -> None:
        async for message in server:
            await server.send(message)

    async with talking(echo) as made:
        made.send("grüße".encode(), text=True)
        made.send(b"\x00\xff", text=False)
        await made.drain()
        assert await next_frame(made) == ("grüße".encode(), True)
        assert await next_frame(made) == (b"\x00\xff", False)
        assert made.take() is None


async def test_a_message_in_pieces_is_put_together() -> None:
    async def pieces(server: ServerConnection) -> None:
        await server.send(["ab", "c", "", "def"])
        await server.send([b"\x00", b"\x01"])
        await server.wait_closed()

    async with talking(pieces) as made:
        assert await next_frame(made) == (b"abcdef", True)
        assert await next_frame(made) == (b"\x00\x01", False)


@pytest.mark.parametrize(("offered", "agreed"), [([SUBPROTOCOL], SUBPROTOCOL), (None, "")])
async def test_the_subprotocol_is_used_if_the_server_takes_it(offered: list[str] | None, agreed: str) -> None:
    async with talking(until_closed, subprotocols=offered) as made:
        assert made.subprotocol == agreed


async def test_the_handshake_has_the_headers_and_no_secret_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    seen: list[str] = []

    def look(server: ServerConnection, request: Request) -> Response | None:
        seen.append(request.headers["X-Test"])
        return None

    async with talking(until_closed, process_request=look):
        pass
    assert seen == ["1"]
    ours = [record for record in caplog.records if record.name.startswith("pisces")]
    assert not [record for record in ours if "x-test" in record.getMessage()]


async def test_a_server_that_refuses_is_told_with_its_status() -> None:
    def refuse(server: ServerConnection, request: Request) -> Response | None:
        return server.respond(HTTPStatus.FORBIDDEN, "no")

    with pytest.raises(NotConnected, match="answered 403") as failure:
        async with talking(until_closed, process_request=refuse):
            pass
    assert failure.value.status == 403


async def test_nobody_there_is_told_with_the_reason() -> None:
    with pytest.raises(NotConnected, match="Connection refused"):
        await connect(f"ws://127.0.0.1:{free_port()}/")


async def test_a_connection_that_breaks_in_the_handshake_is_no_connection() -> None:
    async with cutting_proxy(f"http://127.0.0.1:{free_port()}") as proxy:
        proxy.refusing = True
        with pytest.raises(NotConnected):
            await connect(proxy.url.replace("http", "ws"))


async def test_a_handshake_can_be_cancelled() -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as silent:
        port = silent.extra(anyio.abc.SocketAttribute.local_port)
        with anyio.move_on_after(0.05) as scope:
            await connect(f"ws://127.0.0.1:{port}/")
        assert scope.cancelled_caught


async def test_waiting_can_be_cancelled_and_loses_nothing() -> None:
    go = anyio.Event()

    async def later(server: ServerConnection) -> None:
        await go.wait()
        await server.send("late")
        await server.wait_closed()

    async with talking(later) as made:
        with anyio.move_on_after(0.05) as scope:
            await made.wait()
        assert scope.cancelled_caught
        go.set()
        assert await next_frame(made) == (b"late", True)


async def test_what_came_before_the_end_can_still_be_taken() -> None:
    async def two(server: ServerConnection) -> None:
        await server.send("one")
        await server.send("two")

    async with talking(two) as made:
        await eventually(lambda: made.closed)
        assert [made.take(), made.take(), made.take()] == [(b"one", True), (b"two", True), None]
        with anyio.fail_after(PATIENCE):
            await made.wait()  # It returns at once.
        with pytest.raises(NotConnected):
            made.send(b"x", text=True)


async def test_a_peer_that_goes_without_a_word_is_noticed() -> None:
    async def gone(server: ServerConnection) -> None:
        server.transport.abort()

    async with talking(gone) as made:
        with anyio.fail_after(PATIENCE):
            await made.wait()
        assert made.closed


async def test_what_nobody_takes_stays_with_the_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_module, "_HIGH", 1 << 18)
    monkeypatch.setattr(websocket_module, "_LOW", 1 << 16)
    piece = b"x" * (1 << 16)

    async def flood(server: ServerConnection) -> None:
        for _ in range(1024):
            await server.send(piece)
        await server.wait_closed()

    async with talking(flood) as made:
        await eventually(lambda: made.paused)
        for _ in range(500):  # In as many turns of the loop all of it would be read, if nothing held it back.
            await anyio.lowlevel.checkpoint()
            assert made._waiting < 1 << 20
        for _ in range(1024):
            assert len((await next_frame(made))[0]) == len(piece)


async def test_a_peer_that_is_there_answers() -> None:
    async with talking(until_closed) as made:
        assert await made.answers(PATIENCE)


async def test_a_peer_behind_a_dead_line_does_not_answer() -> None:
    async with serve(until_closed, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with cutting_proxy(url) as proxy:
            made = await connect(proxy.url.replace("http", "ws"))
            proxy.stall()
            assert not await made.answers(0.1)
            made.abort()


async def test_the_socket_neither_waits_nor_stays_open_for_ever() -> None:
    async with talking(until_closed) as made:
        taken = made._socket
        assert taken is not None
        assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert taken.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    assert made.closed
