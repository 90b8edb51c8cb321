"""What keeps others out: a lock against a second host, and a look at who is at the other end of a socket."""

import fcntl
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_POLL_SECONDS: Final = 0.02


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold a lock that the system lets go of when this process ends. Raises `TimeoutError` when another keeps it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    end = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise TimeoutError(f"{path} is held by another process") from None
                time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end of a unix socket; None where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    uid: int = struct.unpack("3i", credentials)[1]
    return uid


def is_foreign(connection: socket.socket) -> bool:
    """Whether somebody else is at the other end. File permissions keep them out; this is the second bolt."""
    return peer_uid(connection) not in (None, os.getuid())
