"""A command at a terminal of its own: keys in, and all that it wrote."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from tests.fakes.drive import PATIENCE
from tests.fakes.emulator import Emulator

_SEQUENCE: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[A-Z78]")

_OWNS_ITS_TERMINAL: Final = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Ctrl+C is a signal only for who has the terminal as its own."""


class Terminal:
    """A process that has a pseudo terminal as its own, with a window of some size. Ended when the block is left."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], *, columns: int = 80, rows: int = 24
    ) -> None:
        self.written = b""
        """All bytes that came."""
        self.columns, self.rows = columns, rows
        self._leader, follower = os.openpty()
        self.resize(columns, rows)
        begin = [sys.executable, "-c", _OWNS_ITS_TERMINAL, *command]
        self.process = subprocess.Popen(
            begin, stdin=follower, stdout=follower, stderr=follower, env=dict(environ), start_new_session=True
        )
        os.close(follower)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.hang_up()

    @property
    def text(self) -> str:
        """All that came, sequences included."""
        return self.written.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """All that came, without sequences."""
        return _SEQUENCE.sub("", self.text)

    @property
    def lines(self) -> list[str]:
        """What a person sees, from the first line on."""
        screen = Emulator(self.columns, self.rows)
        screen.feed(self.text.replace("\r\n", "\n"))
        return screen.lines

    @property
    def echoes(self) -> bool:
        """Whether keys that are pressed are shown."""
        return bool(termios.tcgetattr(self._leader)[3] & termios.ECHO)

    def resize(self, columns: int, rows: int) -> None:
        """The window has another size from now on."""
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._leader, keys.encode("utf-8"))

    def hang_up(self) -> None:
        """The terminal goes away."""
        if self._leader >= 0:
            os.close(self._leader)
            self._leader = -1

    def until(self, wanted: str | Callable[[], object]) -> None:
        """Read until a text has come, or something is so."""
        deadline = time.monotonic() + PATIENCE
        while not (wanted in self.words if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < deadline, f"never came: {wanted}\n{self.text[-3000:]}"
            self._read()

    def wait(self) -> int:
        """Read to the end, and say what the process ended with."""
        deadline = time.monotonic() + PATIENCE
        while self._leader >= 0 and self._read():
            assert time.monotonic() < deadline, f"it does not end\n{self.text[-3000:]}"
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        """Whether there may be more."""
        if not select.select([self._leader], [], [], 0.05)[0]:
            return True
        try:
            came = os.read(self._leader, 65536)
        except OSError:  # The other end is closed.
            return False
        self.written += came
        return bool(came)
