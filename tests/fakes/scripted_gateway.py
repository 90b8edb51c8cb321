"""A server that answers what a test tells it to. It is no Jupyter server: only what a real one does at the worst time.

The real servers are in `servers`; here are answers that nobody can make them give: an error and then a kernel, half an
answer, none at all.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream


@dataclass(frozen=True)
class Reply:
    """One answer."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    half: bool = False
    """Send half of the body, then close."""
    after: anyio.Event | None = None
    """Wait for this first."""
    trickle: bool = False
    """Send the body byte by byte, for ever."""


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


SPECS = {
    "default": "python3",
    "kernelspecs": {"python3": {"name": "python3", "spec": {"language": "python", "display_name": "Python 3"}}},
}


class ScriptedGateway:
    """Answers from a script: for `GET /path`, the answers in order, the last of them for ever."""

    def __init__(self, script: Mapping[str, Sequence[Reply]]) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self._script = {line: deque(replies) for line, replies in script.items()}

    def requests(self, method: str, path: str = "") -> list[Asked]:
        """What was asked so far."""
        return [asked for asked in self.asked if asked.method == method and asked.path.startswith(path)]

    async def serve(self, stream: SocketStream) -> None:
        """One connection."""
        async with stream:
            receiver = BufferedByteReceiveStream(stream)
            try:
                while await self._answer(receiver, stream):
                    pass
            except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
                return

    async def _answer(self, receiver: BufferedByteReceiveStream, stream: SocketStream) -> bool:
        head = (await receiver.receive_until(b"\r\n\r\n", 1 << 16)).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", 0))
        body = json.loads(await receiver.receive_exactly(length)) if length else None
        self.asked.append(Asked(method, path, headers, body))
        replies = self._script.get(f"{method} {path}") or self._script.get(method) or deque([Reply(404)])
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        if reply.after is not None:
            await reply.after.wait()
        return await _send(stream, reply)


async def _send(stream: SocketStream, reply: Reply) -> bool:
    data = b"" if reply.body is None else json.dumps(reply.body).encode()
    length = 1 << 30 if reply.trickle else len(data)
    lines = [f"HTTP/1.1 {reply.status} Scripted", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    await stream.send("\r\n".join([*lines, "", ""]).encode("latin-1"))
    while reply.trickle:
        await stream.send(b" ")
        await anyio.sleep(0.01)
    await stream.send(data[: len(data) // 2] if reply.half else data)
    return not reply.half


@asynccontextmanager
async def scripted_gateway(script: Mapping[str, Sequence[Reply]]) -> AsyncIterator[ScriptedGateway]:
    """A server with this script; kernelspecs are answered as usual if the script does not say otherwise."""
    server = ScriptedGateway({"GET /api/kernelspecs": [Reply(200, SPECS)], **script})
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server.url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()
