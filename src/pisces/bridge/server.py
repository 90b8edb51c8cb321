"""The bridge of a runtime: it listens on the loopback address from the moment on that a kernel needs to know where."""

import logging
import socket
from typing import Final
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketListener, SocketStream, TaskGroup

from pisces.bridge.desk import Desk
from pisces.bridge.lease import Caller, Callers

_LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 1024
_CONNECTIONS: Final = 512
"""So many are served at once; others wait to be let in."""
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
        self._trouble = ""

    def admit(self) -> Caller:
        """A session that may call tools, until it is dismissed."""
        return self._callers.admit()

    def dismiss(self, caller: Caller) -> None:
        """The session has ended."""
        self._callers.dismiss(caller)

    def environment(self, caller: Caller) -> dict[str, str]:
        """What kernels of this session on this machine have to know. From then on there is somebody to answer."""
        self._listen()
        if self._listening is None:
            return {"PI_TOOL_BRIDGE_ERROR": self._trouble}
        return _variables(f"http://{_LOOPBACK}:{self._port}", caller)

    def environment_elsewhere(self, caller: Caller) -> dict[str, str]:
        """The same for kernels on other machines; nothing, unless it is configured how they reach us."""
        if not self._url:
            return {}
        self._listen()
        return {} if self._listening is None else _variables(self._url.rstrip("/"), caller)

    def _listen(self) -> None:
        if self._listening is not None or self._trouble:
            return
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if self._port:  # Connections of a runtime that has ended may still be dying away.
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((_LOOPBACK, self._port))
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError as error:
            listening.close()
            self._trouble = (
                f"the host cannot listen on port {self._port} ({error.strerror}), so that its tools cannot be called. "
                "The setting bridge.port names another; 0 takes any that is free"
            )
            _log.warning("%s", self._trouble)
            return
        self._port = listening.getsockname()[1]
        self._desk.hosts = {f"{_LOOPBACK}:{self._port}", urlsplit(self._url).netloc.lower()} - {""}
        self._listening = listening
        self._tasks.start_soon(self._accept, listening)

    async def _accept(self, listening: socket.socket) -> None:
        """Serve whoever connects, for ever."""
        room = anyio.Semaphore(_CONNECTIONS)
        with listening:
            async with await SocketListener.from_socket(listening) as listener, anyio.create_task_group() as serving:
                while True:
                    await room.acquire()
                    try:
                        stream = await listener.accept()
                    except OSError as error:
                        room.release()
                        _log.warning("a connection to the tool bridge could not be taken: %s", error)
                        await anyio.sleep(_PAUSE)
                    else:
                        serving.start_soon(self._serve, stream, room)

    async def _serve(self, stream: SocketStream, room: anyio.Semaphore) -> None:
        from pisces.bridge.connection import Connection  # With what reads HTTP, which few runs need.

        try:
            async with stream:
                await Connection(stream, self._desk).serve()
        finally:
            room.release()


def _variables(url: str, caller: Caller) -> dict[str, str]:
    return {
        "PI_TOOL_BRIDGE_URL": url,
        "PI_TOOL_BRIDGE_TOKEN": caller.token,
        "PI_TOOL_BRIDGE_SESSION": caller.id,
    }
