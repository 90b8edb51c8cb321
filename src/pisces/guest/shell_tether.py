"""Holding one command of the shell, as `tether` holds a kernel, with two differences.

It gets its order from the socket, one line of JSON, so that it can be started before there is one: starting Python
takes longer than most commands. And what the command leaves in the background may stay: it is named when the shell has
ended, and ends when the host closes its side of the socket or goes away.

An order has `command`, `cwd`, `env`, `extra` (variables that the caller wants besides) and `open_files`. Besides what a
tether tells, the host hears `snapshot` with the reason when there is none of the user's shell, and, with the exit of
the shell, `left`: pid and command line of each process that goes on.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time

from . import processes
from .shell_snapshot import shell_command
from .tether import Tether

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LINGER = 0.1
"""Seconds for what the shell did not wait for, such as `>(…)`, to write its last; then it is in the background."""
_NAME_LENGTH = 80


class ShellTether(Tether):
    """Serves one host, and holds one command and what it leaves."""

    def __init__(self, host: socket.socket, host_pid: int) -> None:
        super().__init__(host, {"host": host_pid, "memory_limit_mb": 0})
        self._ordered = False
        self._unread = b""
        self._exit: dict[str, Any] | None = None
        """How the shell ended, while that has not been told."""
        self._tell_at = math.inf

    def _begin(self) -> None:
        """Nothing to do before there is an order."""

    def _heed(self, asked: bytes) -> None:
        if self._ordered:
            super()._heed(asked)
            return
        self._unread += asked
        order, newline, rest = self._unread.partition(b"\n")
        if newline:
            self._ordered = True
            self._order.update(json.loads(order))
            self._start()
            super()._heed(rest)

    def _run_command(self, tether: int) -> None:
        """In the child, which may take its time: it can be interrupted and ended like the command that it becomes."""
        order = self._order
        os.chdir(order["cwd"])
        command = shell_command(order["command"], order["env"])
        if command.warning:
            self._send({"snapshot": command.warning})
        os.execve(command.args[0], command.args, {**command.env, **order["extra"]})

    def _conclude(self, told: dict[str, Any]) -> None:
        self._exit = told
        self._tell_at = time.monotonic() + _LINGER

    def _patience_ms(self) -> int | None:
        return None if self._exit is None else math.ceil(max(0.0, self._tell_at - time.monotonic()) * 1000)

    def _reap(self, cause: str = "") -> bool:
        some_are_left = super()._reap(cause)
        if self._ended and not (some_are_left and self._running and self._adopts):
            self._running = False
            if not self._adopts:
                self._end_group()  # What is left would be nobody's, where the system cannot give it to us.
            self._tell()
        elif self._exit is not None and time.monotonic() >= self._tell_at:
            self._tell()
        return some_are_left

    def _tell(self) -> None:
        if self._exit is not None:
            told, self._exit = self._exit, None
            left = processes.children(os.getpid()) if self._running else []
            self._send({**told, "left": [[pid, name] for pid in left if (name := _command_line(pid))]})


def _command_line(pid: int) -> str:
    """What a process runs, in short; empty when it has ended."""
    name = processes.name(pid)
    if not name:
        return ""
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            text = " ".join(file.read().replace("\0", " ").split())
    except OSError:
        return name
    return (text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…") or name


def hold_command(host_fd: int, host_pid: int) -> None:
    """Wait for the order of the host behind this descriptor; hold the command until all of it has ended."""
    os.set_inheritable(host_fd, False)
    try:
        ShellTether(socket.socket(fileno=host_fd), host_pid).serve()
    finally:
        os._exit(0)
