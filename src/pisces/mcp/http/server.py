"""The HTTP server, uvicorn, in our event loop, and the SDK's sessions behind it. This module loads both."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from uvicorn.protocols.http.h11_impl import H11Protocol

from pisces.mcp.http.endpoint import Listening
from pisces.mcp.http.guard import LARGEST_BODY, Guard, Head
from pisces.mcp.http.requests import LET_IN, Requests
from pisces.mcp.options import ServerOptions
from pisces.mcp.peer import SESSION_HEADER, owner_of_connection
from pisces.mcp.server import make_server
from pisces.runtime import Runtime

_HEAD_SECONDS: Final = 10.0
"""For the head of a request to come, and for the rest of one that was refused: anybody can connect."""
_TAKE_SECONDS: Final = 65.0
"""For a client to take what it is sent, with the token or without: a little more than a call waits for that."""
_MOST_CONNECTIONS: Final = 256
"""Of clients with the token: beyond that, requests are answered with 503."""
_MOST_SILENT: Final = 256
"""Further connections, without the token so far. Any user can connect, so the oldest is cut when there are more."""
_BACKLOG: Final = 128
"""Connections that are taken in one go, before any is read: few enough for each to be read before it is the oldest."""
_MOST_SESSIONS: Final = 1000
_LEAST_IDLE: Final = 2 * 3600.0
"""Seconds that the SDK remembers a client which says nothing. Longer than we keep its sessions: it then hears that
they were ended, and why, where a client that begins anew would hear nothing."""
_LONGER: Final = 3600.0
_KEPT_SECONDS: Final = 30
_END_SECONDS: Final = 1

_numbers = itertools.count()
"""In which order connections came."""


async def serve(runtime: Runtime, options: ServerOptions, listening: Listening, ready: Callable[[], object]) -> None:
    """Serve whoever has the token, until it is cancelled. `ready` is called when clients can come."""

    async def deleted(head: Head) -> None:
        await runtime.leave(owner_of_connection(head.only(SESSION_HEADER)))

    sessions = StreamableHTTPSessionManager(
        make_server(runtime, options),
        session_idle_timeout=max(_LEAST_IDLE, runtime.settings.python.idle_timeout + _LONGER),
        max_request_body_size=LARGEST_BODY,
        max_sessions=_MOST_SESSIONS,
    )
    requests = Requests(sessions.handle_request, Guard(listening.names, listening.token), deleted=deleted)
    server = _Server(_config(requests), ready)
    ending = anyio.Event()

    async def run() -> None:
        # Shielded, for the SDK's sessions too: whoever has shaken hands gets the results of calls that are stopped.
        with anyio.CancelScope(shield=True):
            async with sessions.run(), anyio.create_task_group() as group:
                group.start_soon(server.serve, [listening.socket])
                await ending.wait()
                server.should_exit = True
                await requests.close()

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        try:
            await anyio.sleep_forever()
        finally:
            ending.set()


def _config(requests: Requests) -> uvicorn.Config:
    return uvicorn.Config(
        requests,
        http=_Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        # What it has to say, anybody can make it say. What goes wrong in us is in our own log.
        log_level=logging.CRITICAL,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS + _MOST_SILENT,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEPT_SECONDS,
        timeout_graceful_shutdown=_END_SECONDS,
    )


class _Server(uvicorn.Server):
    """One that leaves signals to us, and says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


class _Protocol(H11Protocol):
    """One that does not wait for ever for a request or a reader, nor takes any number of connections."""

    _deadline: asyncio.TimerHandle | None = None
    _patience: asyncio.TimerHandle | None = None
    _number = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # So that we hear of anything that is not taken.
        self._number = next(_numbers)
        self._watch()
        if len(self.connections) > _MOST_SILENT:
            self._make_room()

    def _make_room(self) -> None:
        """Cut the oldest connection that has not shown the token, if there are too many of those."""
        known = [each for each in self.connections if isinstance(each, _Protocol) and each._is_silent]
        silent = [each for each in known if not each.transport.is_closing()]  # One that is cut stays listed a moment.
        if len(silent) > _MOST_SILENT:
            min(silent, key=lambda each: each._number).transport.abort()

    @property
    def _is_silent(self) -> bool:
        """Whether it has sent no head yet, or its last request was refused."""
        return self.cycle is None or (self.cycle.response_started and LET_IN not in self.cycle.scope)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        self._taken()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        # Closing would wait for the client to take the rest.
        self._patience = self.loop.call_later(_TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def _taken(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _watch(self) -> None:
        """Have a deadline for as long as no request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._unwatch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
