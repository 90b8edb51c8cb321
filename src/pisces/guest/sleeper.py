"""A process that sleeps until it is wanted as a kernel: the template of new kernels, or a checkpoint of one.

It waits on a socket of its own, to the host. Woken, it forks a copy that goes on sleeping in its place, and becomes the
kernel itself: so it can be woken again and again, and the host knows beforehand which process will be the kernel.
It ends only by `os._exit`: what a program does at its end (removing temporary folders, say) is the live kernel's.
"""

from __future__ import annotations

import os
import socket
import time

from . import forking, processes
from .requests import receive_with_descriptors, split_requests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Save = Callable[[int], None]


class Woken:
    """What a process needs to go on as a kernel: the host's message, its descriptors, and a pid to reap."""

    def __init__(self, message: dict[str, Any], fds: list[int], to_reap: int = 0) -> None:
        self.message = message
        self.fds = fds
        self.to_reap = to_reap


class Sleeper:
    """`facts` are told to the host with every "asleep": what it should know before it wakes this process."""

    def __init__(self, host: socket.socket, facts: dict[str, Any], save: Save, *, mark: str = forking.MARK) -> None:
        self._host = host
        self._mark = mark
        self._facts = facts
        self._save = save
        self._buffer = bytearray()

    def sleep(self) -> Woken:
        """Returns when this process is to be a kernel."""
        self._say_asleep()
        while True:
            requests, fds = self._receive()
            for request in requests:
                if request["type"] == "wake":
                    between = forking.fork_aside(self._mark)
                    if between:
                        self._host.close()
                        forking.close_mark()
                        return Woken(request, fds, between)
                    self._say_asleep()
                elif request["type"] == "save":
                    self._save_in_a_child(fds[0], request["seconds"])
            for fd in fds:
                os.close(fd)

    def _receive(self) -> tuple[list[dict[str, Any]], list[int]]:
        data, fds = receive_with_descriptors(self._host)
        if not data:
            os._exit(0)  # Nobody can wake us any more.
        return split_requests(self._buffer, data), fds

    def _say_asleep(self) -> None:
        pid = os.getpid()
        self._say({"type": "asleep", "pid": pid, "start_time": processes.start_time(pid), **self._facts})

    def _save_in_a_child(self, fd: int, seconds: float) -> None:
        """Write the variables; in a child, because it may hang, and because we may be wanted again."""
        pid = forking.fork_child()
        if pid == 0:
            code = 1
            try:
                self._save(fd)
                code = 0
            finally:
                os._exit(code)
        deadline = time.monotonic() + seconds
        while os.waitpid(pid, os.WNOHANG)[0] != pid:
            if time.monotonic() > deadline:
                processes.kill(pid)
            time.sleep(0.001)
        self._say({"type": "saved"})

    def _say(self, message: dict[str, Any]) -> None:
        import json

        try:
            self._host.sendall(json.dumps(message).encode("utf-8") + b"\n")
        except OSError:
            os._exit(0)  # As above.
