"""The host's end of a process that sleeps until it is wanted as a kernel: the template, or a checkpoint.

Below is `guest/sleeper.py`, on the other end of a socket of its own. A sleeper can be woken again and again: each time
a copy of it goes on as a kernel, of which it says the pid, and it sleeps on. When the socket closes, it ends.
"""

import array
import asyncio
import logging
import math
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import msgspec

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline

_ipc = logging.getLogger("pisces.ipc")
_SAVE_SLACK = 2.0
_LATE = 0.5
"""After so many seconds without an answer, something may have been stopped. Waking takes a few milliseconds."""

NO_PROCESSES = "End some programs, or raise the limits on processes."
"""What to do when the system refuses to fork."""


class Asleep(msgspec.Struct, frozen=True, tag_field="type", tag="asleep"):
    """A process sleeps and can be woken; what should be known of it before."""

    pid: int = 0
    by_value: str = ""
    """Which library cannot go on after a fork; then only the variables can be had. Empty when all can go on."""
    execution_count: int = 0
    threads: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class WokenCopy(msgspec.Struct, frozen=True, tag_field="type", tag="woken"):
    """A copy of the sleeper is going on as a kernel."""

    pid: int
    start_time: int


class Saved(msgspec.Struct, frozen=True, tag_field="type", tag="saved"):
    """What could be written of its variables in the time given is written."""


class Refused(msgspec.Struct, frozen=True, tag_field="type", tag="refused"):
    """The system gives it no process for what it was asked; it sleeps on, and can be asked again."""

    reason: str


class Failed(msgspec.Struct, frozen=True, tag_field="type", tag="failed"):
    """The process cannot be what it was to be; it ends."""

    reason: str
    module: str = ""
    """The module of `python.preload` that is the cause; empty when it is something else."""


_decoder = msgspec.json.Decoder(Asleep | WokenCopy | Saved | Refused | Failed)


class Sleeper:
    """One of them; `usable` until it has died or was given up."""

    def __init__(self, on_late: Callable[[], None]) -> None:
        """`on_late` is called when an answer takes long. Raises `OSError` when the system gives no more descriptors."""
        self._on_late = on_late
        self._loop = asyncio.get_running_loop()
        self._socket, theirs = socket.socketpair()
        self._guest_end = theirs.detach()
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket.fileno(), self._on_readable)
        self._buffer = b""
        self._news = anyio.Event()
        self._asleep: Asleep | None = None
        self._asking = anyio.Lock()
        self._asked = 0
        self._answered = 0
        self._answer: WokenCopy | Saved | Refused | None = None
        self.failure: Failed | None = None
        self.usable = True
        self.died = False
        """Whether it slept, and ended without being told to."""

    @property
    def by_value(self) -> bool:
        """Whether only its variables can be had, as far as is known."""
        return self._asleep is not None and bool(self._asleep.by_value)

    @property
    def stuck_pid(self) -> int:
        """Its process, if that owes an answer: it may hang, and not hear that it is given up. 0 if it owes none."""
        return self._asleep.pid if self._asleep is not None and self._answered < self._asked else 0

    def guest_end(self) -> int:
        """The descriptor that the process gets; to be sent to it, then `forget_guest_end`."""
        return self._guest_end

    def forget_guest_end(self) -> None:
        """Close our copy, so that the socket ends when the process does."""
        if self._guest_end >= 0:
            os.close(self._guest_end)
            self._guest_end = -1

    async def asleep(self, deadline: Deadline, cap: float = math.inf) -> Asleep:
        """Wait until it can be woken. Raises `KernelStartError` when it never will, `DeadlineExceeded` when late."""
        with deadline.scope(cap) as scope:
            while self._asleep is None and self.usable:
                await self._hear()
        if self._asleep is not None:
            return self._asleep
        if scope.cancelled_caught:
            raise DeadlineExceeded("A sleeping kernel did not answer in time")
        raise KernelStartError(self._why_it_ended(), hint="")

    async def wake(self, request: Mapping[str, Any], fds: Sequence[int]) -> WokenCopy:
        """Have a copy of it go on as a kernel, with these descriptors. It has to be asleep."""
        answer = await self._ask({"type": "wake", **request}, fds)
        if isinstance(answer, WokenCopy):
            return answer
        raise KernelStartError(self._why_it_ended(), hint="")

    async def save(self, fd: int, deadline: Deadline, *, seconds: float) -> None:
        """Have its variables written to this file, as many as it can in these seconds."""
        with deadline.scope(seconds + _SAVE_SLACK):
            answer = await self._ask({"type": "save", "seconds": seconds}, [fd])
            if isinstance(answer, Saved):
                return
            raise KernelStartError("The variables of the checkpoint could not be written", hint="")
        raise DeadlineExceeded("The variables of the checkpoint were not written in time")

    async def _ask(self, message: Mapping[str, Any], fds: Sequence[int]) -> WokenCopy | Saved | None:
        """Its answer; None when it has ended. Raises `KernelStartError` when the system refuses it a process.

        It answers in the order in which it is asked. So an answer that comes after its asker was cancelled is told from
        the next one by being counted: taken for that, it would be the pid of another process.
        """
        async with self._asking:
            self._send(message, fds)
            self._asked += 1
            number = self._asked
            while self._answered < number and self.usable:
                await self._hear()
            answer = self._answer if self._answered == number else None
        if isinstance(answer, Refused):
            raise KernelStartError(f"Cannot fork a kernel: {answer.reason}", hint=NO_PROCESSES)
        return answer

    def _has_ended(self) -> None:
        """Its process is gone, without our having given it up."""
        self.died = self.died or self._asleep is not None
        self.close()

    def close(self) -> None:
        """Give it up: the process ends."""
        self.forget_guest_end()
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
        self.usable = False
        self._asleep = None
        self._news.set()

    def fail(self, reason: str) -> None:
        """It could not be made, for this reason."""
        self.failure = self.failure or Failed(reason)
        self.close()

    def _why_it_ended(self) -> str:
        return self.failure.reason if self.failure else "The sleeping process has ended"

    async def _hear(self) -> None:
        """Wait for news. Several may: all of them wait for the same event."""
        if self._news.is_set():
            self._news = anyio.Event()
        late = self._loop.call_later(_LATE, self._on_late)
        try:
            await self._news.wait()
        finally:
            late.cancel()

    def _send(self, message: Mapping[str, Any], fds: Sequence[int]) -> None:
        data = msgspec.json.encode(message) + b"\n"
        _ipc.debug("host to sleeper: %s", data)
        try:
            # A sleeper reads whatever comes, and a message is far smaller than what a socket takes at once.
            self._socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
        except OSError as error:
            self.failure = self.failure or Failed(f"the sleeping process has ended ({error.strerror or error})")
            self._has_ended()

    def _on_readable(self) -> None:
        try:
            data = self._socket.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._has_ended()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            _ipc.debug("sleeper to host: %s", line)
            self._take(line)
        self._news.set()

    def _take(self, line: bytes) -> None:
        try:
            message = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.fail(f"it said what nobody understands: {error}")
            return
        match message:
            case Asleep():
                self._asleep = message
            case WokenCopy() | Saved() | Refused():
                self._answered += 1
                self._answer = message
            case Failed():
                self.failure = message
