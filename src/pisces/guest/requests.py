"""What the host asks: JSON, one object per line, on a unix socket that also carries descriptors."""

from __future__ import annotations

from .descriptors import moved_up, private_duplicate
from .forking import is_aside
from .stdlib import _socket as socket
from .stdlib import array, json, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_READ_BYTES = 1 << 16
_MOST_DESCRIPTORS = 64
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # `socket.recv_fds` of Python 3.11 drops it.
_decode = json.JSONDecoder().decode  # Bound, as a cell may replace the method.


def receive_with_descriptors(connection: socket.socket) -> tuple[bytes, list[int]]:
    """What has come, and the descriptors that came with it; no bytes when the other side has gone."""
    try:
        space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4)
        data, ancillary, _, _ = connection.recvmsg(_READ_BYTES, space, _CLOEXEC)
    except ConnectionError:
        return b"", []
    received: list[int] = []
    for level, kind, payload in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds = array.array("i")
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
            received += [moved_up(fd) for fd in fds]
    return data, received


def split_requests(buffer: bytearray, data: bytes) -> list[dict[str, Any]]:
    """The requests that are complete with this data; the rest stays in the buffer."""
    buffer += data
    if b"\n" not in data:
        return []
    *lines, rest = bytes(buffer).split(b"\n")
    buffer[:] = rest
    return [_decode(line.decode("utf-8")) for line in lines if line]


class RequestReader:
    """Requests of the host to a kernel, once it is attached. `fds` has the descriptors that came, in order."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._socket: socket.socket | None = socket.socket(fileno=private_duplicate(ours.fileno()))
        ours.close()
        theirs.close()
        self._buffer = bytearray()
        self.fds: list[int] = []
        os.register_at_fork(after_in_child=self._close)

    def attach(self, fd: int) -> None:
        """Listen to this socket from now on."""
        assert self._socket is not None
        os.dup2(fd, self._socket.fileno(), inheritable=False)
        self._socket.setblocking(False)
        self._buffer.clear()
        self.fds.clear()

    def fileno(self) -> int:
        """For a selector; -1 once it is closed."""
        return -1 if self._socket is None else self._socket.fileno()

    def read(self) -> list[dict[str, Any]] | None:
        """The requests that have arrived in full; None when the host has closed its end."""
        assert self._socket is not None
        try:
            data, fds = receive_with_descriptors(self._socket)
        except (BlockingIOError, InterruptedError):
            return []
        self.fds += fds
        return split_requests(self._buffer, data) if data else None

    def _close(self) -> None:
        if self._socket is not None and not is_aside():
            os.close(self._socket.detach())
            self._socket = None
