"""One command of the shell as the host sees it: started, read, interrupted, ended.

Between the two is a tether (`guest/shell_tether.py`), a small process that ends the command and all it started when the
host dies, however it dies. It can be started before there is a command for it.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any, Final

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from pisces.errors import PiscesError
from pisces.kernels.native.descriptors import open_files_limit
from pisces.kernels.tether import COOKIE, Tether

_INTERRUPT: Final = b"i"
_END_CAP: Final = 5.0
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


class CommandProcess:
    """A tether that waits for its order, and then the command that it holds.

    Making one raises `PiscesError` when it cannot be started.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env` is that of the tether itself."""
        self._loop = asyncio.get_running_loop()
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
        try:
            self._tether = Tether("shell-tether", str(os.getpid()), env, on_told=self._on_told, on_gone=self._on_gone)
        except OSError as error:
            raise PiscesError(f"Cannot start a command: {error.strerror or error}") from error

    async def run(self, order: Order) -> None:
        """Send the order: the command begins. If the tether has gone, that is told as the end of the command."""
        told = msgspec.to_builtins(order)
        told["env"] = {**order.env, COOKIE: self._tether.cookie}
        told["open_files"] = open_files_limit()
        # Not msgspec: a variable that is not UTF-8 has lone surrogates, which only this one takes.
        self.began = await self._tether.say_all(json.dumps(told).encode("ascii") + b"\n")

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
                await anyio.wait_readable(self._tether.output)
            self._waiting = None

    def interrupt(self) -> None:
        """SIGINT for its process group."""
        if self.began:
            self._tether.say(_INTERRUPT)

    def give_up(self) -> None:
        """End all of it; nobody waits until that is done."""
        self._tether.hang_up()

    async def kill(self) -> None:
        """End all of it, and wait until that is done."""
        self.give_up()
        with anyio.move_on_after(_END_CAP, shield=True) as patience:
            await self.gone.wait()
        if patience.cancelled_caught:
            self._tether.kill()
            with anyio.move_on_after(_END_CAP, shield=True):
                await self.gone.wait()
        if self.exit_code is None:
            self._on_exit(_KILLED)  # Nobody can tell what became of it, and nobody is to wait for ever.

    def let_be(self) -> None:
        """What the shell has left goes on; what that writes is read, so that it is not held up, and dropped."""
        self._let_be = True
        if self.gone.is_set():
            self._tether.close_output()
        else:
            self._loop.add_reader(self._tether.output, self._drop)

    def _read_now(self) -> bytes:
        try:
            return os.read(self._tether.output, _READ_BYTES)
        except BlockingIOError:
            return b""

    def _drop(self) -> None:
        if not self._read_now():
            self._loop.remove_reader(self._tether.output)

    def _on_told(self, told: Mapping[str, Any]) -> None:
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

    def _on_gone(self) -> None:
        if self.exit_code is None:
            self._tether.end_what_it_held()
            self._on_exit(_KILLED)
        self.gone.set()
        if self._let_be:
            self._tether.close_output()
