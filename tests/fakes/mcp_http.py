"""Servers over HTTP, in this process or in one of their own, the official client at them, and requests made by hand."""

import json
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from typing import Any, Final

import anyio
import httpx2
import msgspec
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from pisces.mcp.http.endpoint import Endpoint
from pisces.mcp.http.server import serve
from pisces.mcp.http.token import Token
from pisces.mcp.options import ServerOptions
from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.mcp_clients import MODERN, mcp_command, mcp_environment

TOKEN: Final = "the-token-of-the-tests"
_META: Final = "io.modelcontextprotocol/"
_SAID: Final = "header Authorization: Bearer "


class Site(msgspec.Struct, frozen=True):
    """Where a server is, and what gets one in."""

    url: str
    token: str

    @property
    def port(self) -> int:
        return httpx2.URL(self.url).port or 0

    def headers(self, **more: str) -> dict[str, str]:
        """Those of a request that is let in; `content_type="…"` sets one besides, or another value."""
        usual = {
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        return {**usual, **{name.replace("_", "-"): value for name, value in more.items()}}

    def modern_headers(self, method: str, name: str = "", **more: str) -> dict[str, str]:
        """Those of a request that belongs to no connection."""
        routing = {"mcp-protocol-version": MODERN, "mcp-method": method} | ({"mcp-name": name} if name else {})
        return {**self.headers(**more), **routing}


class ServerProcess(msgspec.Struct, frozen=True):
    """`pisces mcp --http`, as a process."""

    site: Site
    process: "subprocess.Popen[bytes]"
    errors: Any

    def said(self) -> str:
        """What it has said on standard error."""
        return _content(self.errors)

    async def ends(self, within: float = PATIENCE) -> int:
        """Wait for its end; the exit code."""
        await eventually(lambda: self.process.poll() is not None, within=within)
        return self.process.returncode


def modern_body(method: str, **params: Any) -> bytes:
    """A request that belongs to no connection."""
    meta = {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientCapabilities": {},
        f"{_META}clientInfo": {"name": "by-hand", "version": "1"},
    }
    whole = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(whole).encode()


def modern_cell(code: str, **params: Any) -> bytes:
    """A call of `python` that belongs to no connection."""
    return modern_body("tools/call", name="python", arguments={"code": code, **params})


@asynccontextmanager
async def serving(runtime: Runtime, *, names: tuple[str, ...] = (), buffer: int | None = None) -> AsyncIterator[Site]:
    """Serve a runtime that has not been entered, in this process. `buffer` is how much the system holds unsent."""
    endpoint = Endpoint(token=Token(TOKEN, "the tests"), port=0, further_names=names)
    ready = anyio.Event()
    with closing(endpoint.listen()) as listening:
        if buffer is not None:
            listening.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        async with runtime, anyio.create_task_group() as group:
            group.start_soon(serve, runtime, ServerOptions(), listening, ready.set)
            await ready.wait()
            yield Site(listening.url, TOKEN)
            group.cancel_scope.cancel()


@asynccontextmanager
async def server_process(
    interpreter: str, *arguments: str, variables: Mapping[str, str] | None = None
) -> AsyncIterator[ServerProcess]:
    """`pisces mcp --http --port 0` and these arguments; it is ended afterwards, if it has not."""
    with tempfile.TemporaryFile() as errors:
        command = mcp_command("--http", "--port", "0", *arguments)
        process = subprocess.Popen(  # noqa: ASYNC220 - it takes a moment, and the test has nothing else to do
            command,
            env=mcp_environment(interpreter, variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        try:
            await eventually(lambda: process.poll() is not None or "Bearer" in _content(errors), within=PATIENCE)
            assert process.poll() is None, _content(errors)
            yield ServerProcess(_site(_content(errors)), process, errors)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=PATIENCE)
            finally:
                process.kill()


def _content(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode("utf-8"))


def _site(said: str) -> Site:
    url = said.partition("serves MCP at ")[2].partition("\n")[0]
    return Site(url, said.partition(_SAID)[2].partition("\n")[0] if _SAID in said else "")


@asynccontextmanager
async def client_of(
    site: Site, *, mode: str = "auto", program: str = "pisces-tests", stays: bool = False, **headers: str
) -> AsyncIterator[Client]:
    """The official client; one that `stays` does not say that it is done when it leaves."""
    timeout = httpx2.Timeout(PATIENCE, read=10 * PATIENCE)
    async with httpx2.AsyncClient(headers=site.headers(**headers), timeout=timeout) as http:
        transport = streamable_http_client(site.url, http_client=http, terminate_on_close=not stays)
        info = Implementation(name=program, version="1")
        async with Client(transport, mode=mode, client_info=info, cache=None) as client:
            yield client


async def exchange(port: int, sent: bytes) -> bytes:
    """Send these bytes, no more and no less, and take what comes until the answer's body has, or the end."""
    received = b""
    with anyio.fail_after(PATIENCE):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(sent)
            while not _is_whole(received):
                try:
                    received += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    break
    return received


def _is_whole(received: bytes) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return False
    lengths = [line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(lengths) and len(body) >= int(lengths[0])
