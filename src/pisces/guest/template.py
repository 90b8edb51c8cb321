"""How the template sleeps: with one copy of it made before anybody asks, so that a new kernel waits for no fork.

The copy has run a cell as well: the pages that any cell writes to are its own already. It waits on the template's
socket, and takes one message; the template makes the next copy when it hears, through a pipe, that this one has gone.
"""

from __future__ import annotations

import os
import select
import socket

from . import forking
from .requests import receive_with_descriptors, split_requests
from .sleeper import Sleeper, Woken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_REST_MS = 50


class Template(Sleeper):
    """`warm_up` is what a copy does before it is wanted."""

    def __init__(self, host: socket.socket, facts: dict[str, Any], warm_up: Callable[[], None]) -> None:
        super().__init__(host, facts, save=_nothing_to_save)
        self._warm_up = warm_up

    def sleep(self) -> Woken:
        """Returns in every copy that is to be a kernel; never here."""
        self._say({"type": "asleep", **self._facts})
        wanted = False
        while True:
            gone, waiting = os.pipe()
            between = forking.fork_aside()
            if not between:
                os.close(gone)
                if not wanted:
                    self._warm_up()
                return self._be_woken(waiting)
            os.close(waiting)
            os.waitpid(between, 0)
            self._wait_until(gone)
            os.close(gone)
            wanted = self._rest()

    def _be_woken(self, waiting: int) -> Woken:
        """In the copy: wait for a message, and tell the host and the template that it has been taken."""
        requests: list[dict[str, Any]] = []
        fds: list[int] = []
        while not requests:
            data, more = receive_with_descriptors(self._host)
            if not data:
                os._exit(0)  # Nobody can wake us any more.
            fds += more
            requests = split_requests(self._buffer, data)
        self._say_woken(os.getpid())
        os.close(waiting)
        self._host.close()
        forking.close_mark()
        return Woken(requests[0], fds)

    def _wait_until(self, gone: int) -> None:
        """Until the copy is a kernel, or has died; ends this process when the host has gone."""
        poller = select.poll()
        poller.register(gone, select.POLLIN)
        poller.register(self._host, 0)  # Its end alone: what comes is for the copy.
        if any(fd == self._host.fileno() for fd, _ in poller.poll()):
            os._exit(0)

    def _rest(self) -> bool:
        """Leave the processor to the kernel that has just begun; True when somebody wants the next one already."""
        poller = select.poll()
        poller.register(self._host, select.POLLIN)
        return bool(poller.poll(_REST_MS))


def _nothing_to_save(fd: int) -> None:
    """A template has no variables."""
