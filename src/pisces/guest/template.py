"""How the template sleeps: with one copy of it made before anybody asks, so that a new kernel waits for no fork.

The copy has run a cell as well: the pages that any cell writes to are its own already. It waits on the template's
socket, and takes one message; the template makes the next copy when it hears, through a pipe, that this one has gone.
While the system refuses copies, whoever wants one is told why, and for each of them it is tried again.
"""

from __future__ import annotations

from . import forking
from .requests import receive_with_descriptors, split_requests
from .sleeper import Sleeper, Woken, collect
from .stdlib import _socket as socket
from .stdlib import os, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_REST_MS = 2


class Template(Sleeper):
    """`warm_up` is what a copy does before it is wanted."""

    def __init__(self, host: socket.socket, facts: dict[str, Any], warm_up: Callable[[], None]) -> None:
        super().__init__(host, facts, save=_nothing_to_save)
        self._warm_up = warm_up

    def sleep(self) -> Woken:
        """Returns in every copy that is to be a kernel; never here."""
        self._say({"type": "asleep", "pid": os.getpid(), **self._facts})
        wanted = False
        while True:
            gone, waiting = os.pipe()
            try:
                between = forking.fork_aside(refuse=self._refuse)
            except Exception as error:
                self._refuse(error)
                between = -1
            if not between:
                os.close(gone)
                if not wanted:
                    self._warm_up()
                return self._be_woken(waiting)
            os.close(waiting)
            made = between > 0 and collect(between)
            if made:
                self._wait_until(gone)
            os.close(gone)
            wanted = self._is_wanted(_REST_MS if made else None)

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

    def _is_wanted(self, rest: int | None) -> bool:
        """Whether somebody wants a kernel already; until then, for so many milliseconds, leave others the processor."""
        poller = select.poll()
        poller.register(self._host, select.POLLIN)
        return bool(poller.poll(rest))

    def _refuse(self, error: Exception) -> None:
        """There is no copy: take the message of whoever waits for one, and say why."""
        if not self._is_wanted(0):
            return
        data, fds = receive_with_descriptors(self._host)
        for fd in fds:
            os.close(fd)
        if not data:
            os._exit(0)  # Nobody can wake us any more.
        for _ in split_requests(self._buffer, data):
            super()._refuse(error)


def _nothing_to_save(fd: int) -> None:
    """A template has no variables."""
