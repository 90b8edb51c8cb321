"""A tether, as the host sees it: a small process that holds another one, heard over a socket until it is gone.

It runs our guest in our own interpreter (`guest/tether.py`, `guest/shell_tether.py`). What it holds writes to a pipe,
whose other end is `output`. Above are kernels over ZeroMQ, and the commands of the `bash` tool.
"""

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pisces.kernels.native.remains import end_remains
from pisces.settings.recorded_process import RecordedProcess

COOKIE: Final = "PI_KERNEL_COOKIE"
"""The variable by which all that the tether holds is found again."""

_GUEST: Final = Path(__file__).parents[1] / "guest"
_LOOK_SECONDS = 10.0
"""How often to look whether a signal has stopped it: that takes 20 µs."""
_REAP_SECONDS: Final = 0.001
_READ_BYTES: Final = 1 << 16


class Tether:
    """Tells what it hears by `on_told`, each a JSON object, and by `on_gone` that it has ended and was reaped."""

    def __init__(
        self,
        kind: str,
        argument: str,
        env: Mapping[str, str],
        *,
        on_told: Callable[[Mapping[str, Any]], None],
        on_gone: Callable[[], None],
    ) -> None:
        """`kind` is the task of the guest, `argument` what follows the descriptor. Raises `OSError`."""
        self.cookie = secrets.token_hex(8)
        self._on_told = on_told
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._unread = b""
        self._socket: socket.socket | None
        self._process, self._socket, self.output = self._start(kind, argument, env)
        self._loop.add_reader(self._socket.fileno(), self._hear)
        self._recorded = RecordedProcess.of(self._process.pid)
        self._loop.call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Continue it if a signal has stopped it: it would not report the end of what it holds."""
        if self._socket is not None:
            self._recorded.continue_if_stopped()
            self._loop.call_later(_LOOK_SECONDS, self._look)

    def _start(
        self, kind: str, argument: str, env: Mapping[str, str]
    ) -> tuple["subprocess.Popen[bytes]", socket.socket, int]:
        ours, theirs, reading, writing = _channels()
        # Isolated: nothing in the environment or the folder of the user's can have a say in how it runs.
        python = [sys.executable, "-I", "-S", str(_GUEST / "__main__.py")]
        try:
            process = subprocess.Popen(
                [*python, kind, str(theirs.fileno()), argument],
                pass_fds=[theirs.fileno()],
                env={**env, COOKIE: self.cookie},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        ours.setblocking(False)
        os.set_blocking(reading, False)
        return process, ours, reading

    def say(self, what: bytes) -> bool:
        """Send something short; False if the tether has gone, which is reported when its socket closes."""
        self._recorded.continue_if_stopped()
        try:
            return self._socket is not None and self._socket.send(what) == len(what)
        except OSError:
            return False

    async def say_all(self, what: bytes) -> bool:
        """The same for something long."""
        if self._socket is None:
            return False
        try:
            await self._loop.sock_sendall(self._socket, what)
        except OSError:
            return False
        return True

    def hang_up(self) -> None:
        """Say nothing more, which is heard at any time, even in the middle of something long: it is to end."""
        self._recorded.continue_if_stopped()
        try:
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # It has gone, which is told.

    def kill(self) -> None:
        """End the tether itself: it was stopped, or what it waits for cannot end."""
        self._process.kill()

    def end_what_it_held(self) -> None:
        """It was killed. What it held got the same signal at once, where the system can; all else is ended here."""
        end_remains([self.cookie])

    def close_output(self) -> None:
        """Read no more of the output. It can be called more than once."""
        if self.output >= 0:
            self._loop.remove_reader(self.output)
            os.close(self.output)
            self.output = -1

    def _hear(self) -> None:
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
            self._reap()
            return
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._on_told(json.loads(line))

    def _reap(self) -> None:
        """It goes, which takes it a moment more than to close its socket."""
        if self._process.poll() is None:
            self._loop.call_later(_REAP_SECONDS, self._reap)
        else:
            self._on_gone()


def _channels() -> tuple[socket.socket, socket.socket, int, int]:
    """Both ends of the socket, and of the pipe for the output."""
    ours, theirs = socket.socketpair()
    try:
        return ours, theirs, *os.pipe()
    except OSError:
        ours.close()
        theirs.close()
        raise
