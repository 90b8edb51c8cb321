"""The bridge of a runtime: it listens on the loopback address from the moment on that a kernel needs to know where."""

import logging
import socket
from collections import deque
from contextlib import AsyncExitStack
from typing import Final
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketListener, SocketStream, TaskGroup

from pisces.bridge.desk import Desk
from pisces.bridge.lease import Caller, Callers

_LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 1024
_CONNECTIONS: Final = 512
"""How many callers are served at once; others wait."""
_SILENT: Final = 512
"""Further connections, without a token so far. Any user can connect, so the oldest is cut when there are more."""
_PAUSE: Final = 0.1
"""After a connection could not be taken, which is when this process has no descriptor left."""

_log = logging.getLogger(__name__)


class Bridge:
    """Lets the cells of sessions call tools. Its tasks live in the runtime's task group."""

    def __init__(self, tasks: TaskGroup, *, port: int = 0, url: str = "") -> None:
        """`port` is 0 for any that is free; `url` is how kernels on other machines reach us, if they can."""
        self._tasks = tasks
        self._port = port
        self._url = url
        self._callers = Callers()
        self._desk = Desk(self._callers)
        self._listening: socket.socket | None = None
        self._silent: deque[anyio.CancelScope] = deque()
        """The connections that have not shown a token yet, the oldest first."""

    def admit(self) -> Caller:
        """A session that may call tools, until it is dismissed."""
        return self._callers.admit()

    def dismiss(self, caller: Caller) -> None:
        """The session has ended."""
        self._callers.dismiss(caller)

    def environment(self, caller: Caller) -> dict[str, str]:
        """What kernels of this session on this machine have to know. From then on there is somebody to answer."""
        return self._environment(caller, "")

    def environment_elsewhere(self, caller: Caller) -> dict[str, str]:
        """The same for kernels on other machines; nothing, unless it is configured how they reach us."""
        return self._environment(caller, self._url.rstrip("/")) if self._url else {}

    def _environment(self, caller: Caller, url: str) -> dict[str, str]:
        trouble = self._listen()
        if trouble:
            return {"PI_TOOL_BRIDGE_ERROR": trouble}
        return {
            "PI_TOOL_BRIDGE_URL": url or f"http://{_LOOPBACK}:{self._port}",
            "PI_TOOL_BRIDGE_TOKEN": caller.token,
            "PI_TOOL_BRIDGE_SESSION": caller.id,
        }

    def _listen(self) -> str:
        """Have somebody listen; or why that cannot be, for the reader. It is tried again for the next kernel."""
        if self._listening is not None:
            return ""
        try:
            self._listening = _listening_on(self._port)
        except OSError as error:
            remedy = "The setting bridge.port names another; 0 takes any that is free" if self._port else ""
            where = f"port {self._port}" if self._port else _LOOPBACK
            why = f"the host cannot listen on {where} ({error.strerror}), so that its tools cannot be called"
            _log.warning("%s", why)
            return f"{why}. {remedy}" if remedy else why
        self._port = self._listening.getsockname()[1]
        self._desk.hosts = {f"{_LOOPBACK}:{self._port}", urlsplit(self._url).netloc.lower()} - {""}
        self._tasks.start_soon(self._accept, self._listening)
        return ""

    async def _accept(self, listening: socket.socket) -> None:
        """Serve whoever connects, for ever."""
        room = anyio.Semaphore(_CONNECTIONS)
        with listening:
            async with await SocketListener.from_socket(listening) as listener, anyio.create_task_group() as serving:
                while True:
                    async with room:
                        pass  # There is room for one more caller.
                    try:
                        stream = await listener.accept()
                    except OSError as error:
                        _log.warning("a connection to the tool bridge could not be taken: %s", error)
                        await anyio.sleep(_PAUSE)
                    else:
                        serving.start_soon(self._serve, stream, room)

    async def _serve(self, stream: SocketStream, room: anyio.Semaphore) -> None:
        from pisces.bridge.connection import Connection  # With what reads HTTP, which few runs need.

        async def admitted() -> None:
            self._forget(scope)
            await stack.enter_async_context(room)

        async with AsyncExitStack() as stack:
            scope = stack.enter_context(anyio.CancelScope())
            await stack.enter_async_context(stream)
            self._silent.append(scope)
            if len(self._silent) > _SILENT:
                self._silent.popleft().cancel()
            try:
                await Connection(stream, self._desk, admitted).serve()
            finally:
                self._forget(scope)

    def _forget(self, silent: anyio.CancelScope) -> None:
        if silent in self._silent:  # It is not when it has shown a token, or was cut.
            self._silent.remove(silent)


def _listening_on(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if port:  # Connections of a runtime that has ended may still be dying away.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_LOOPBACK, port))
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening
