"""Requests that are refused, at a real server: nothing of them reaches a tool, and nobody holds it up."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream

from pisces.mcp.http import requests as http_requests
from pisces.mcp.http import server as http_server
from pisces.mcp.http.guard import LARGEST_BODY
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.mcp_http import TOKEN, Site, exchange, modern_body, modern_cell, serving
from tests.fakes.runtimes import pool_of, runtime_on

HEAD = b"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n"


def forged(site: Site, **headers: str | None) -> dict[str, str]:
    """The headers of a call that runs a cell, but for these."""
    changed: dict[str, Any] = {**site.modern_headers("tools/call", "python"), **headers}
    return {name: value for name, value in changed.items() if value is not None}


FORGERIES: dict[str, tuple[str, dict[str, str | None], int]] = {
    "no-token": ("", {"authorization": None}, 401),
    "a-wrong-token": ("", {"authorization": "Bearer not-the-token-of-the-tests"}, 401),
    "the-token-in-the-query": (f"?token={TOKEN}&access_token={TOKEN}", {"authorization": None}, 401),
    "the-token-as-a-password": ("", {"authorization": f"Basic {TOKEN}"}, 401),
    "a-name-that-leads-here": ("", {"host": "rebind.test"}, 403),
    "a-name-that-leads-here-with-the-port": ("", {"host": "rebind.test:PORT"}, 403),
    "our-address-without-the-port": ("", {"host": "127.0.0.1"}, 403),
    "a-page-of-elsewhere": ("", {"origin": "https://rebind.test"}, 403),
    "a-page-of-this-machine": ("", {"origin": "http://127.0.0.1:3000"}, 403),
    "a-page-in-a-sandbox": ("", {"origin": "null"}, 403),
    "a-form": ("", {"content-type": "text/plain"}, 415),
    "no-type": ("", {"content-type": None}, 415),
}


@pytest.mark.parametrize("which", list(FORGERIES))
async def test_a_forged_request_runs_nothing(which: str, plain_python: str, tmp_path: Path) -> None:
    query, changes, answer = FORGERIES[which]
    runtime = runtime_on(plain_python, tmp_path)
    async with serving(runtime) as site, httpx2.AsyncClient(timeout=PATIENCE) as http:
        headers = {name: value.replace("PORT", str(site.port)) for name, value in forged(site, **changes).items()}
        response = await http.post(site.url + query, headers=headers, content=modern_cell("1 + 1"))
        assert response.status_code == answer
        assert not [name for name in response.headers if name.startswith("access-control")]
        assert TOKEN not in response.text + str(response.headers)
        if answer == 401:
            assert response.headers["www-authenticate"] == "Bearer"
            assert response.content == b""
        assert pool_of(runtime).sessions == []
        # With nothing forged it is answered, so that it was refused for nothing else.
        good = await http.post(site.url, headers=site.modern_headers("tools/list"), content=modern_body("tools/list"))
        assert [tool["name"] for tool in good.json()["result"]["tools"]] == ["python", "notebook", "session"]


@pytest.fixture
async def site(plain_python: str, tmp_path: Path) -> AsyncIterator[Site]:
    async with serving(runtime_on(plain_python, tmp_path)) as found:
        yield found


async def test_a_browser_that_asks_beforehand_is_allowed_nothing(site: Site) -> None:
    asked = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        for headers in (asked, {**asked, "origin": f"http://127.0.0.1:{site.port}"}, {**asked, **site.headers()}):
            response = await http.options(site.url, headers=headers)
            assert response.status_code in {401, 403, 405}
            assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("sender", "answer"),
    [(b"Host: rebind.test\r\n", b"403"), (b"Host: 127.0.0.1:PORT\r\nAuthorization: Bearer wrong\r\n", b"401")],
    ids=["name", "token"],
)
async def test_a_refusal_comes_before_anything_of_the_body(site: Site, sender: bytes, answer: bytes) -> None:
    sender = sender.replace(b"PORT", str(site.port).encode())
    for size in (
        b"Content-Length: 1000",
        b"Transfer-Encoding: chunked",
        b"Content-Length: 1000\r\nExpect: 100-continue",
    ):
        received = await exchange(site.port, HEAD + sender + size + b"\r\n\r\n")
        assert received.startswith(b"HTTP/1.1 " + answer)


async def test_a_body_that_says_it_is_too_large_is_not_waited_for(site: Site) -> None:
    sender = f"Host: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    size = f"Content-Length: {LARGEST_BODY + 1}\r\nExpect: 100-continue\r\n\r\n".encode()
    received = await exchange(site.port, HEAD + sender + size)
    assert received.startswith(b"HTTP/1.1 413")


async def test_a_body_that_does_not_say_how_large_it_is_is_bounded_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_requests, "LARGEST_BODY", 100_000)
    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"jsonrpc": "2.0", "method": "'
        while sent < 400_000:
            sent += 1000
            yield b"x" * 1000
        yield b'"}'

    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        response = await http.post(site.url, headers=site.headers(), content=pieces())
    assert response.status_code == 413


async def test_a_request_as_large_as_may_be_is_taken(site: Site) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x"}).encode()
    padded = body + b" " * (LARGEST_BODY - len(body))
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        response = await http.post(site.url, headers=site.headers(), content=padded)
    assert response.status_code == 400
    assert "session ID" in response.json()["error"]["message"]


async def test_a_body_that_does_not_come_is_not_waited_for_for_ever(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_requests, "_BODY_SECONDS", 0.1)
    sender = f"Host: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    received = await exchange(site.port, HEAD + sender + b'Content-Length: 1000\r\n\r\n{"json')
    assert received.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("begun", [b"", b"POST /mcp HT", HEAD], ids=["nothing", "half a line", "half a head"])
async def test_whoever_connects_and_asks_for_nothing_is_hung_up_on(
    site: Site, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_HEAD_SECONDS", 0.1)
    assert await exchange(site.port, begun) == b""


async def send_for_ever(stream: SocketStream) -> None:
    while True:
        await stream.send(b"x" * 1000)


async def test_the_rest_of_a_refused_request_is_not_taken_for_ever(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_HEAD_SECONDS", 0.1)
    with anyio.fail_after(20):
        async with await anyio.connect_tcp("127.0.0.1", site.port) as stream:
            await stream.send(HEAD + b"Host: rebind.test\r\nContent-Length: 100000000000\r\n\r\n")
            assert (await stream.receive()).startswith(b"HTTP/1.1 403")
            with pytest.raises(anyio.BrokenResourceError):
                await send_for_ever(stream)


async def ask_for_ever(client: socket.socket, asks: bytes) -> None:
    while True:
        await asyncio.get_running_loop().sock_sendall(client, asks)


async def test_whoever_takes_none_of_the_answers_is_hung_up_on(
    plain_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_TAKE_SECONDS", 0.1)
    async with serving(runtime_on(plain_python, tmp_path), buffer=4096) as site:
        asks = f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode() * 100
        with anyio.fail_after(20), socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.connect(("127.0.0.1", site.port))
            client.setblocking(False)
            with pytest.raises(ConnectionError):
                await ask_for_ever(client, asks)


# 300 silent connections of another user had everybody answered with 503.
@pytest.mark.parametrize("begun", ["nothing", "half a head", "no token", "no token, and no body"])
async def test_connections_without_a_request_that_is_let_in_keep_nobody_out(
    plain_python: str, tmp_path: Path, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_MOST_SILENT", 2)
    monkeypatch.setattr(http_server, "_MOST_CONNECTIONS", 2)
    async with serving(runtime_on(plain_python, tmp_path)) as site, AsyncExitStack() as ending:
        asks = HEAD + f"Host: 127.0.0.1:{site.port}\r\n".encode()
        sent = {
            "nothing": b"",
            "half a head": HEAD,
            "no token": asks + b"Content-Length: 0\r\n\r\n",
            "no token, and no body": asks + b"Content-Length: 10\r\n\r\n",
        }[begun]
        client = await ending.enter_async_context(httpx2.AsyncClient(timeout=PATIENCE))
        ask = partial(
            client.post, site.url, headers=site.modern_headers("tools/list"), content=modern_body("tools/list")
        )
        assert (await ask()).status_code == 200
        strangers = []
        for _ in range(6):
            stream = await ending.enter_async_context(await anyio.connect_tcp("127.0.0.1", site.port))
            await stream.send(sent)
            if begun.startswith("no token"):
                assert (await stream.receive()).startswith(b"HTTP/1.1 401")
            strangers.append(stream)
        with anyio.fail_after(PATIENCE):  # The oldest are hung up on.
            for stream in strangers[:4]:
                with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await stream.receive()
        assert (await ask()).status_code == 200
        async with httpx2.AsyncClient(timeout=PATIENCE) as another:
            headers = site.modern_headers("tools/list")
            assert (await another.post(site.url, headers=headers, content=modern_body("tools/list"))).status_code == 200


async def test_silent_connections_that_come_all_at_once_keep_nobody_out(
    plain_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_MOST_SILENT", 2)
    monkeypatch.setattr(http_server, "_MOST_CONNECTIONS", 2)
    async with serving(runtime_on(plain_python, tmp_path)) as site, AsyncExitStack() as ending:
        for _ in range(10):  # The server does not run meanwhile.
            ending.enter_context(socket.create_connection(("127.0.0.1", site.port)))
        for _ in range(2):
            async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                body = modern_body("tools/list")
                response = await http.post(site.url, headers=site.modern_headers("tools/list"), content=body)
            assert response.status_code == 200


async def test_requests_are_bounded_and_room_is_found_again(
    plain_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_MOST_SILENT", 2)
    monkeypatch.setattr(http_server, "_MOST_CONNECTIONS", 1)
    gate = tmp_path / "gate"
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)"
    runtime = runtime_on(plain_python, tmp_path)
    async with serving(runtime) as site:
        asks = f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode()

        async def run(name: str) -> None:
            async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                headers = site.modern_headers("tools/call", "python")
                response = await http.post(site.url, headers=headers, content=modern_cell(wait, session=name))
            assert response.status_code == 200

        async with anyio.create_task_group() as group:
            for name in ("one", "two"):
                group.start_soon(run, name)
            await eventually(lambda: sum(session.busy for session in pool_of(runtime).sessions) == 2)
            assert (await exchange(site.port, asks)).startswith(b"HTTP/1.1 503")
            gate.touch()
        with anyio.fail_after(PATIENCE):
            while not (await exchange(site.port, asks)).startswith(b"HTTP/1.1 401"):
                pass
