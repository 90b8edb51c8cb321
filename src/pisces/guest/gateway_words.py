"""What a kernel says on its standard error: passed on to the gateway's log, and the end of it kept.

A program that crashes in C code says there where it did, and nowhere else.
"""

from __future__ import annotations

import asyncio
import os

_KEPT = 16 * 1024
_READ = 1 << 16
_FATAL = "Fatal Python error"
_CURRENT = "Current thread"
_SHELL = "interactiveshell.py"


class LastWords:
    """One kernel's. It is read all the time, so that a kernel that says much never waits for us."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        """Where the kernel writes; closed on our side by `begun`."""
        os.set_blocking(self._reading, False)
        self._kept = b""

    def begun(self) -> None:
        """The kernel has its end: listen."""
        os.close(self.writing)
        asyncio.get_running_loop().add_reader(self._reading, self._hear)

    def fatal(self) -> str:
        """What it said of a crash in C code; empty if it said nothing of that kind."""
        self._hear()
        said = self._kept.decode("utf-8", "replace")
        return _where(said[said.rindex(_FATAL) :].splitlines()) if _FATAL in said else ""

    def close(self) -> None:
        """It has ended."""
        if self._reading >= 0:
            self._hear()
            self._stop()

    def _hear(self) -> None:
        while self._reading >= 0:
            try:
                said = os.read(self._reading, _READ)
            except BlockingIOError:
                return
            if not said:
                self._stop()
                return
            self._kept = (self._kept + said)[-_KEPT:]
            _pass_on(said)

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._reading)
        os.close(self._reading)
        self._reading = -1


def _where(lines: list[str]) -> str:
    """What happened, and where: the frames of the thread that crashed, down to the user's last one."""
    start = next((place for place, line in enumerate(lines) if line.startswith(_CURRENT)), 1)
    frames: list[str] = []
    for line in lines[start:]:
        if not line.strip() or _SHELL in line:
            break
        frames.append(line)
    return "\n".join([lines[0], *frames])


def _pass_on(said: bytes) -> None:
    try:
        os.write(2, said)
    except OSError:
        pass  # The disk is full: the log is the first thing to do without.
