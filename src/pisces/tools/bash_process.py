"""One command of the shell as the host sees it: started, read, interrupted, ended.

Between the two is a tether (`guest/shell_tether.py`), a small process that ends the command and all it started when the
host dies, however it dies. It can be started before there is a command for it.
"""

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from pisces.errors import PiscesError
from pisces.kernels.native.descriptors import open_files_limit
from pisces.kernels.native.remains import end_remains

_GUEST: Final = Path(__file__).parents[1] / "guest"
_INTERRUPT: Final = b"i"
_COOKIE: Final = "PI_KERNEL_COOKIE"
_END_CAP: Final = 5.0
_REAP_SECONDS: Final = 0.001
_READ_BYTES: Final = 1 << 16
_LAST_READS: Final = 16
"""More than a pipe holds: what the shell wrote before its end is all read, and no more of what others go on writing."""
_KILLED: Final = 137


class Order(msgspec.Struct, frozen=True):
    """What is to be run, and how."""

    command: str
    cwd: str
    env: Mapping[str, str]
    extra: Mapping[str, str]
    """Variables that the caller wants besides; the snapshot of the user's shell is taken without them."""


class LeftProcess(msgspec.Struct, frozen=True):
    """A process that goes on though the shell has ended."""

    pid: int
    command: str


def _channels() -> tuple[socket.socket, socket.socket, int, int]:
    """Both ends of the socket, and of the pipe for the output. Raises `PiscesError`."""
    try:
        ours, theirs = socket.socketpair()
        try:
            return ours, theirs, *os.pipe()
        except OSError:
            ours.close()
            theirs.close()
            raise
    except OSError as error:
        raise PiscesError(f"Cannot open the channels of a command: {error.strerror or error}") from error


class CommandProcess:
    """A tether that waits for its order, and then the command that it holds.

    Making one raises `PiscesError` when it cannot be started.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env` is that of the tether itself."""
        self._loop = asyncio.get_running_loop()
        self._cookie = secrets.token_hex(8)
        self._unread = b""
        self._waiting: anyio.CancelScope | None = None
        self._last_reads = _LAST_READS
        self._let_be = False
        self.began = False
        """Whether the whole order has been sent."""
        self.exit_code: int | None = None
        """How the shell ended, by its own convention; None while it runs."""
        self.refusal = ""
        """Why the command could not be run, if it could not."""
        self.warning = ""
        """Why there is no snapshot of the user's shell, if that has come out now."""
        self.left: list[LeftProcess] = []
        """What went on when the shell had ended."""
        self.gone = anyio.Event()
        """Set when all of it has ended."""
        self._socket: socket.socket | None
        self._tether, self._socket, self._output = self._start(env)
        self._loop.add_reader(self._socket.fileno(), self._on_told)

    def _start(self, env: Mapping[str, str]) -> tuple["subprocess.Popen[bytes]", socket.socket, int]:
        ours, theirs, reading, writing = _channels()
        # Isolated: nothing in the environment or the folder of the user's can have a say in how it runs.
        python = [sys.executable, "-I", "-S", str(_GUEST / "__main__.py"), "shell-tether"]
        try:
            tether = subprocess.Popen(
                [*python, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env={**env, _COOKIE: self._cookie},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            os.close(reading)
            raise PiscesError(f"Cannot run {sys.executable}: {error.strerror or error}") from error
        finally:
            theirs.close()
            os.close(writing)
        ours.setblocking(False)
        os.set_blocking(reading, False)
        return tether, ours, reading

    async def run(self, order: Order) -> None:
        """Send the order: the command begins. If the tether has gone, that is told as the end of the command."""
        told = msgspec.to_builtins(order)
        told["env"] = {**order.env, _COOKIE: self._cookie}
        told["open_files"] = open_files_limit()
        if self._socket is not None:
            try:
                # Not msgspec: a variable that is not UTF-8 has lone surrogates, which only this one takes.
                await self._loop.sock_sendall(self._socket, json.dumps(told).encode("ascii") + b"\n")
            except OSError:
                return
            self.began = True

    async def read(self) -> bytes:
        """The next of what it has written; nothing when the shell has ended and all of its output was read."""
        while True:
            # One that writes faster than it is read never has us wait: the others, and its own deadline, have a turn.
            await checkpoint()
            if self.exit_code is not None:
                self._last_reads -= 1
            data = self._read_now() if self._last_reads > 0 else b""
            if data or self.exit_code is not None:
                return data
            with anyio.CancelScope() as self._waiting:
                await anyio.wait_readable(self._output)
            self._waiting = None

    def interrupt(self) -> None:
        """SIGINT for its process group."""
        try:
            if self._socket is not None and self.began:
                self._socket.send(_INTERRUPT)
        except OSError:
            pass  # It has gone, which is told, or it was stopped and reads nothing.

    async def kill(self) -> None:
        """End all of it, and wait until that is done."""
        try:
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_WR)  # Heard at any time, even in the middle of an order.
        except OSError:
            pass  # It has gone, which is told.
        with anyio.move_on_after(_END_CAP, shield=True) as patience:
            await self.gone.wait()
        if patience.cancelled_caught:
            self._tether.kill()  # It was stopped, or what it waits for cannot end.
            with anyio.move_on_after(_END_CAP, shield=True):
                await self.gone.wait()
        if self.exit_code is None:
            self._on_exit(_KILLED)  # Nobody can tell what became of it, and nobody is to wait for ever.

    def let_be(self) -> None:
        """What the shell has left goes on; what that writes is read, so that it is not held up, and dropped."""
        self._let_be = True
        if self.gone.is_set():
            self._close()
        else:
            self._loop.add_reader(self._output, self._drop)

    def _close(self) -> None:
        if self._output >= 0:
            self._loop.remove_reader(self._output)
            os.close(self._output)
            self._output = -1

    def _read_now(self) -> bytes:
        try:
            return os.read(self._output, _READ_BYTES)
        except BlockingIOError:
            return b""

    def _drop(self) -> None:
        if not self._read_now():
            self._loop.remove_reader(self._output)

    def _on_told(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
            self._end()
            return
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._handle(json.loads(line))

    def _handle(self, told: Mapping[str, Any]) -> None:
        if "refused" in told:
            self.refusal = told["refused"]
        elif "snapshot" in told:
            self.warning = told["snapshot"]
        elif "cause" in told:
            self.left = [LeftProcess(pid, command) for pid, command in told.get("left", ())]
            self._on_exit(128 + told["signal"] if "signal" in told else told["code"])

    def _on_exit(self, code: int) -> None:
        self.exit_code = code
        if self._waiting is not None:
            self._waiting.cancel()

    def _end(self) -> None:
        """The tether goes: reap it, which takes it a moment more, and be done."""
        if self._tether.poll() is None:
            self._loop.call_later(_REAP_SECONDS, self._end)
            return
        if self.exit_code is None:
            # The tether was killed. The shell got the same signal at once, where the system can; the others had none.
            end_remains([self._cookie])
            self._on_exit(_KILLED)
        self.gone.set()
        if self._let_be:
            self._close()
