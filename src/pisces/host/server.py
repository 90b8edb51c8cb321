"""The background host: listens for commands of its user, and ends when nobody needs it any more."""

import logging
import os
import socket
import time
from typing import Final

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketListener, SocketStream

from pisces._version import __version__
from pisces.errors import InvalidCall, PiscesError, SettingsError
from pisces.host.calls import HostCalls
from pisces.host.connection import Connection
from pisces.host.files import HostFiles, HostRecord
from pisces.host.guard import is_foreign
from pisces.host.losses import Ending, Losses
from pisces.host.protocol import (
    PROTOCOL,
    Answer,
    Call,
    Cancel,
    Complete,
    Completed,
    Hello,
    Refusal,
    RefusalKind,
    Reply,
    Request,
    Stop,
    Stopping,
    printable,
)
from pisces.model.completion import Completion
from pisces.runtime import Runtime
from pisces.settings.private_file import write_whole
from pisces.settings.recorded_process import process_start

_FAREWELL: Final = 2.0
"""Seconds for clients to take their last answers when the host ends."""

_log = logging.getLogger(__name__)


class Host:
    """Serves clients until it is told to stop, or has had neither a session nor a client for `idle_timeout` seconds."""

    def __init__(self, runtime: Runtime, files: HostFiles, *, idle_timeout: float) -> None:
        self._runtime = runtime
        self._files = files
        self._idle_timeout = idle_timeout
        self._started = time.time()
        self._losses = Losses(files.sessions_file)
        self._calls = HostCalls(runtime, self._losses)
        self._connections: set[Connection] = set()
        self._ending: Ending | None = None
        self._stop = anyio.Event()

    def stop(self, ending: Ending = "stopped") -> None:
        """End, whatever there is."""
        self._ending = self._ending or ending
        self._stop.set()

    async def serve(self, listening: socket.socket) -> None:
        """Serve on this socket, and end every session at the end. The socket is closed and its file removed."""
        listener = await SocketListener.from_socket(listening)
        async with anyio.create_task_group() as serving:
            async with listener, anyio.create_task_group() as accepting:
                accepting.start_soon(listener.serve, self._serve, serving)
                accepting.start_soon(self._end_when_idle)
                await self._stop.wait()
                # Before anything that takes time: a command that comes now starts another host.
                self._files.socket.unlink(missing_ok=True)
                accepting.cancel_scope.cancel()
            assert self._ending is not None
            self._losses.end(self._ending)
            await self._runtime.pool.aclose()  # Clients get the results of calls that end by it.
            with anyio.move_on_after(_FAREWELL):
                for connection in list(self._connections):
                    await connection.answered()
            serving.cancel_scope.cancel()

    async def _end_when_idle(self) -> None:
        idle_since = time.monotonic()
        while True:
            await anyio.sleep(min(max(self._idle_timeout / 10, 0.05), 15.0))
            await self._runtime.pool.evict_idle()
            if self._connections or self._calls.sessions:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since >= self._idle_timeout:
                _log.info("no session for %g seconds", self._idle_timeout)
                self.stop("idle")

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            if is_foreign(stream.extra(SocketAttribute.raw_socket)):
                _log.warning("a client of another user was turned away")
                return
            if self._ending is not None:
                return  # Without a word: the client sees that and starts another host.
            connection = Connection(stream)
            self._connections.add(connection)
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(connection.write)
                    await connection.send(self._hello())
                    await self._converse(connection)
                    group.cancel_scope.cancel()
            finally:
                self._connections.discard(connection)

    async def _converse(self, connection: Connection) -> None:
        while True:
            try:
                request = await connection.receive()
            except PiscesError as error:
                await connection.send(_refusal("failed", error))
                return
            if request is None:
                return
            with connection.working():
                reply = await self._reply(request, connection)
                if reply is not None:
                    await connection.send(reply)
            if isinstance(reply, Stopping):
                self.stop()
                await anyio.sleep_forever()  # The connection closes when everything has ended.

    async def _reply(self, request: Request, connection: Connection) -> Reply | None:
        match request:
            case Call():
                return await self._answer(request, connection)
            case Stop():
                if self._calls.sessions and not request.with_sessions:
                    names = ", ".join(line.name for line in self._calls.sessions)
                    return Refusal("failed", f"The background host has sessions: {names}")
                return Stopping()
            case Complete():
                return await self._complete(request, connection)
            case Cancel():  # It came after the end of its call.
                return None

    async def _answer(self, call: Call, connection: Connection) -> Reply:
        if self._ending is not None:
            return Refusal("ending", "The background host is ending")
        try:
            result = await self._calls.answer(call, connection)
            return Answer(msgspec.Raw(msgspec.json.encode(result.to_dict())))
        except InvalidCall as error:
            return _refusal("call", error)
        except SettingsError as error:
            return _refusal("settings", error)
        except PiscesError as error:
            return _refusal("failed", error)
        except Exception as error:  # noqa: BLE001 - the sessions of other clients must not end by it
            _log.exception("a call failed")
            message = f"Pisces itself went wrong: {type(error).__name__}: {error}"
            return Refusal("failed", printable(message), f"The details are in {self._files.log}. Please report it.")

    async def _complete(self, request: Complete, connection: Connection) -> Completed:
        try:
            return Completed(await self._calls.complete(request, connection))
        except Exception:  # noqa: BLE001 - the sessions of other clients must not end by it
            _log.exception("what could stand at a cursor could not be told")
            return Completed(Completion())

    def _hello(self) -> Hello:
        return Hello(PROTOCOL, __version__, os.getpid(), self._started, self._calls.sessions)

    def record(self) -> None:
        """Write down who the host is."""
        pid = os.getpid()
        record = HostRecord(pid, self._started, __version__, str(self._files.socket), process_start(pid))
        write_whole(self._files.record_file, msgspec.json.encode(record))


def _refusal(kind: RefusalKind, error: PiscesError) -> Refusal:
    return Refusal(kind, printable(str(error)), printable(error.hint))


def listen(files: HostFiles) -> socket.socket:
    """A socket that only this user can connect to. Whoever calls this holds the life lock: a file there is stale."""
    files.socket.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listening.bind(str(files.socket))
    finally:
        os.umask(mask)
    listening.listen(128)
    listening.setblocking(False)
    return listening
