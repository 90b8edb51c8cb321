"""A web site that is after the server on this machine, and a browser that opens it."""

import json
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from scripts.find_browser import find_browser
from scripts.make_environment import SetUpFailed
from tests.fakes.drive import PATIENCE

PAGE_ADDRESS: Final = "127.0.0.2"
"""Not that of the server, so that both can have the same port, as a rebound name needs it."""
REBOUND: Final = "rebind.test"
_LARGEST: Final = 1 << 20
_PAGE: Final = Path(__file__).with_name("hostile_page.html")
_SWITCHES: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-crash-reporter",
    "--disable-breakpad",
    "--no-first-run",
    "--no-proxy-server",
    f"--host-resolver-rules=MAP {REBOUND} {PAGE_ADDRESS}",
)


class HostileSite:
    """Serves one page, and takes its report. Anything else it passes on to the server, as if the name led there now.

    It stands in for a name server whose answer changes, which a test cannot have: the bytes that come to the server
    are those that would come then.
    """

    def __init__(self, page: bytes, port: int, target: int) -> None:
        self.port = port
        self.report: dict[str, str] = {}
        self.reported = anyio.Event()
        self._page = page
        self._target = target

    async def serve(self, stream: SocketStream) -> None:
        """Answer one request, or hand the connection on."""
        async with stream:
            try:
                head, body = await _request(stream)
                if head.startswith(b"GET /page "):
                    await _answer(stream, self._page)
                elif head.startswith(b"POST /report "):
                    self.report = json.loads(await _rest(stream, head, body))
                    await _answer(stream, b"")
                    self.reported.set()
                else:
                    await self._hand_on(stream, head + body)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _hand_on(self, stream: SocketStream, begun: bytes) -> None:
        async with await anyio.connect_tcp("127.0.0.1", self._target) as server, anyio.create_task_group() as group:
            await server.send(begun)
            group.start_soon(_copy, stream, server)
            await _copy(server, stream)
            group.cancel_scope.cancel()


@asynccontextmanager
async def hostile_site(port: int, target: int, **facts: Any) -> AsyncIterator[HostileSite]:
    """The site at this port, 0 for any; `facts` are what its page knows of its target, the server at that port."""
    async with (
        await anyio.create_tcp_listener(local_host=PAGE_ADDRESS, local_port=port) as pages,
        # A connection that was handed on stays so, and a report on it would go astray: it has a port of its own.
        await anyio.create_tcp_listener(local_host=PAGE_ADDRESS) as reports,
        anyio.create_task_group() as group,
    ):
        facts["report"] = f"http://{PAGE_ADDRESS}:{reports.extra(SocketAttribute.local_port)}/report"
        page = _PAGE.read_text(encoding="utf-8").replace("FACTS", json.dumps(facts))
        site = HostileSite(page.encode(), pages.extra(SocketAttribute.local_port), target)
        group.start_soon(pages.serve, site.serve)
        group.start_soon(reports.serve, site.serve)
        yield site
        group.cancel_scope.cancel()


async def visit(site: HostileSite, url: str) -> dict[str, str]:
    """Open the page in a browser, and return what it says came of each attempt."""
    try:
        browser = find_browser()
    except SetUpFailed as why:
        pytest.skip(str(why))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [browser, *_SWITCHES, f"--user-data-dir={folder}", url]
        nowhere = subprocess.DEVNULL
        async with await anyio.open_process(command, stdin=nowhere, stdout=nowhere, stderr=nowhere) as process:
            try:
                with anyio.fail_after(2 * PATIENCE):
                    await site.reported.wait()
            finally:
                process.terminate()
    return site.report


async def _request(stream: SocketStream) -> tuple[bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive(_LARGEST)
    head, end, body = received.partition(b"\r\n\r\n")
    return head + end, body


async def _rest(stream: SocketStream, head: bytes, body: bytes) -> bytes:
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += await stream.receive(_LARGEST)
    return body


async def _answer(stream: SocketStream, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    await stream.send(head.encode() + body)


async def _copy(source: SocketStream, target: SocketStream) -> None:
    try:
        while True:
            await target.send(await source.receive())
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return
