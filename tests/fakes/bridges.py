"""A bridge on a real socket, tools that do what a test says, and clients that say every byte themselves."""

import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import SocketStream

from pisces.bridge.lease import Caller, Lease
from pisces.bridge.server import Bridge
from pisces.bridge.wire import Answer
from tests.fakes.drive import PATIENCE


class ScriptedTools:
    """Fulfils `HostTools`. `echo` returns its arguments; `wait` waits to be let go, or to be stopped; others fail."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.under_way = 0
        self.most_at_once = 0
        self.aborted = 0
        self.cancelled = 0
        self.heeds_abort = True
        self.let_go = anyio.Event()

    def listed(self) -> Mapping[str, str]:
        return {"echo": "Says it again.", "wait": "Waits."}

    async def call(self, name: str, args: Mapping[str, Any], lease: Lease, abort: anyio.Event) -> Answer:
        self.called.append(name)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            if name == "wait":
                await self._wait(abort)
            return Answer(value=args) if name in ("echo", "wait") else Answer(error=f"There is no tool {name!r}")
        except BaseException:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1

    async def _wait(self, abort: anyio.Event) -> None:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                await abort.wait()
                self.aborted += 1
                if self.heeds_abort:
                    group.cancel_scope.cancel()

            group.start_soon(stop)
            await self.let_go.wait()
            group.cancel_scope.cancel()


class Bridged:
    """A bridge with one session, whose cell may run."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.caller: Caller = bridge.admit()
        self.tools = ScriptedTools()
        self.variables = bridge.environment(self.caller)
        self.port = int(self.variables["PI_TOOL_BRIDGE_URL"].rpartition(":")[2])

    def open(self, run: str | None = None) -> Lease:
        """A cell begins."""
        lease = self.caller.open("a session", self.tools, ())
        lease.run = run
        return lease

    def body(self, name: str = "echo", **more: Any) -> dict[str, Any]:
        """The call of a tool, as a cell sends it."""
        return {"session": self.caller.id, "name": name, "args": {"x": 1}, **more}

    def request(self, body: Any = None, **headers: str | None) -> bytes:
        """A request as a cell sends it, with these headers besides, or in the place of its own; None for none."""
        data = body if isinstance(body, bytes) else json.dumps(self.body() if body is None else body).encode()
        return http("POST", "/v1/tool", self.headers(**headers), data)

    def headers(self, **others: str | None) -> dict[str, str]:
        usual = {"host": f"127.0.0.1:{self.port}", "authorization": f"Bearer {self.caller.token}"}
        return {name: value for name, value in {**usual, **others}.items() if value is not None}

    async def connect(self) -> "Client":
        return Client(await anyio.connect_tcp("127.0.0.1", self.port))

    async def ask(self, request: bytes) -> tuple[int, Any]:
        """Send one request over a connection of its own: the status, and what was answered."""
        client = await self.connect()
        async with client.stream:
            await client.stream.send(request)
            return await client.answer()

    async def call(self, name: str = "echo", **more: Any) -> Any:
        """What comes of the call of a tool."""
        status, answer = await self.ask(self.request(self.body(name, **more)))
        assert status == 200
        return answer


class Client:
    """One connection."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self._buffer = b""

    async def answer(self) -> tuple[int, Any]:
        """The next answer: its status, and its body."""
        head = await self._until(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self._exactly(int(headers.get("content-length", 0)))
        return int(first.split(" ")[1]), json.loads(body) if body else None

    async def is_closed(self) -> bool:
        """Whether the other side closes it, and has said all."""
        with anyio.fail_after(PATIENCE):
            try:
                return await self.stream.receive() == b""
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return True

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            await self._more()
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            await self._more()
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        return found

    async def _more(self) -> None:
        with anyio.fail_after(PATIENCE):
            self._buffer += await self.stream.receive()


def http(method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """A request, byte for byte."""
    length = {"content-length": str(len(body))} if body and "transfer-encoding" not in headers else {}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in {**headers, **length}.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def bridged(**options: Any) -> AsyncIterator[Bridged]:
    """A bridge that is there for the time of the block."""
    async with anyio.create_task_group() as group:
        yield Bridged(Bridge(group, **options))
        group.cancel_scope.cancel()
