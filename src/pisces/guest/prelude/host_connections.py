"""Connections to the host's tools: HTTP, few at a time, kept from call to call while a cell runs."""

from __future__ import annotations

import os
import threading
import time

from . import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPConnection
    from typing import Any

    Idle = tuple[HTTPConnection, float]

MOST = 16
"""So many connections has one process; whoever wants one more waits."""
_FRESH_SECONDS = 3.0
"""For so long a connection that nobody uses is good for another call: the host closes it after 10 seconds."""


class Connections:
    """To one address."""

    def __init__(self, url: str) -> None:
        """Raises `ValueError` when that is no address."""
        from urllib.parse import urlsplit

        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a host")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/")
        self._slots = threading.Semaphore(MOST)
        self._lock = threading.Lock()
        self._idle: list[Idle] = []

    def exchange(self, request: Exchange) -> tuple[int, bytes]:
        """Send a request and wait for the answer: its status and its body. Raises `OSError` or `HTTPException`.

        Whatever else is raised meanwhile, an interrupt, closes the connection, which tells the host to stop.
        """
        with self._slots:
            connection = self._take()
            whole = False
            try:
                answer = request.over(connection, self._base)
                whole = True
            finally:
                if whole:
                    self._keep(connection)
                else:
                    hang_up(connection)
        return answer

    def close_idle(self) -> None:
        """Close those that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def forget(self) -> None:
        """In a forked process: let go of what is its parent's, who may hold the lock for ever here."""
        for connection, _ in self._idle:
            connection.close()

    def _take(self) -> HTTPConnection:
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection, since = self._idle.pop()
            if time.monotonic() - since < _FRESH_SECONDS:
                return connection
            connection.close()
        return self._open()

    def _open(self) -> HTTPConnection:
        """A new connection. No proxy is asked: the address is one that this process can reach itself.

        It waits as long as the tool takes, whatever `socket.setdefaulttimeout` of a cell says.
        """
        from http.client import HTTPConnection, HTTPSConnection

        return (HTTPSConnection if self._secure else HTTPConnection)(self._host, self._port, timeout=None)

    def _keep(self, connection: HTTPConnection) -> None:
        if connection.sock is not None:  # Else the host has said that it closes it.
            with self._lock:
                self._idle.append((connection, time.monotonic()))


class Exchange:
    """One request and its answer. `give_up`, from another thread, ends it with an `OSError`."""

    def __init__(self, method: str, path: str, token: str, body: bytes | None = None) -> None:
        self._method = method
        self._path = path
        self._body = body
        self._headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            self._headers["Content-Type"] = "application/json"
        self._lock = threading.Lock()  # A connection that has been let go of may be another call's.
        self._connection: HTTPConnection | None = None
        self._given_up = False

    def over(self, connection: HTTPConnection, base: str) -> tuple[int, bytes]:
        """Have it over this connection."""
        if connection.sock is None:
            connection.connect()  # Not by the request itself: whoever gives up meanwhile would not be heard.
        with self._lock:
            if self._given_up:
                raise ConnectionAbortedError("the call was given up")
            self._connection = connection
        try:
            connection.request(self._method, base + self._path, self._body, self._headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            with self._lock:
                self._connection = None

    def give_up(self) -> None:
        """Nobody wants the answer any more."""
        with self._lock:
            self._given_up = True
            if self._connection is not None:
                _shut_down(self._connection)


def hang_up(connection: HTTPConnection) -> None:
    """Close a connection so that the other side hears of it, also if a forked process holds a copy of it."""
    _shut_down(connection)
    connection.close()


def _shut_down(connection: Any) -> None:
    import socket

    sock = connection.sock  # Which the thread that reads from it may close and forget.
    try:
        if sock is not None:
            sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It is closed already.


class _Own:
    """The connections of this process: a forked one has none of its parent's."""

    def __init__(self) -> None:
        self.connections: Connections | None = None
        self.forget()

    def forget(self) -> None:
        self.lock = threading.Lock()
        if self.connections is not None:
            self.connections.forget()
        self.url = ""
        self.connections = None

    def close_idle(self) -> None:
        if self.connections is not None:
            self.connections.close_idle()


_own = _Own()
os.register_at_fork(after_in_child=_own.forget)
# A socket that is open between cells would have every checkpoint wait until its copy has let go of it.
running.at_end(_own.close_idle)


def connections_to(url: str) -> Connections:
    """Those of this process to this address. Raises `ValueError` when it is none."""
    with _own.lock:
        if _own.connections is None or _own.url != url:
            _own.close_idle()
            _own.connections = Connections(url)
            _own.url = url
        return _own.connections
