"""A program in a terminal of its own: keys in, and the time until they are on the screen."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

import psutil

LETTERS: Final = "ßñøþđħłŋ"
"""Typed one at a time: nothing else on the screen has them."""
_BACKSPACE: Final = b"\x7f"
_PATIENCE: Final = 30.0
_QUIET: Final = 0.05


class Terminal:
    """100 columns and 30 lines."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        env = {**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=cwd, start_new_session=True
        )
        os.close(slave)
        self.shown = b""
        """What has come, the newest part of it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait(10)
        os.close(self._master)

    @property
    def memory(self) -> float:
        """Bytes that the program holds."""
        return float(psutil.Process(self._process.pid).memory_info().rss)

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._master, keys)

    def paste(self, code: str) -> None:
        """Put a line of code into the editor, and press Enter."""
        self.send(b"\x1b[200~" + code.encode() + b"\x1b[201~")
        self.quiet()
        self.send(b"\r")

    def until(self, wanted: bytes, *, within: float = _PATIENCE) -> float:
        """Seconds until something comes that was not there before."""
        began = time.perf_counter()
        self.shown = b""
        while wanted not in self.shown:
            if time.perf_counter() > began + within:
                raise TimeoutError(f"{wanted!r} never came; the last was {self.shown[-2000:]!r}")
            self._take(0.01)
        return time.perf_counter() - began

    def quiet(self, within: float = _QUIET, at_most: float = 1.0) -> None:
        """Wait until nothing comes any more."""
        until = time.perf_counter() + at_most
        while self._take(within) and time.perf_counter() < until:
            pass

    def type_one(self, number: int) -> float:
        """Seconds from a key to its letter on the screen, which is taken back then."""
        letter = LETTERS[number % len(LETTERS)].encode()
        self._drain()
        self.send(letter)
        seconds = self.until(letter)
        self.send(_BACKSPACE)
        self.quiet(_QUIET, 0.2)
        return seconds

    def press(self, key: bytes) -> float:
        """Seconds from a key to the first thing that changes on the screen; all of it has come then."""
        self._drain()
        self.send(key)
        seconds = self.until(b"\x1b[")
        self.quiet(_QUIET, 0.5)
        return seconds

    def _drain(self) -> None:
        while self._take(0):
            pass

    def _take(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        self.shown = (self.shown + os.read(self._master, 1 << 16))[-(1 << 17) :]
        return True
