"""The descriptors between the host and one kernel: who holds which end, and reading them without waiting.

Control is a socket from the host to the guest; frames, stdout, stderr and trace are pipes the other way; the slate is
a few bytes of memory that both see. Nothing here waits: `wait` alone gives up the processor, until a pipe has something
to read or somebody calls `wake`.
"""

import array
import asyncio
import logging
import mmap
import os
import socket
import tempfile
from contextlib import ExitStack
from typing import Literal

_ipc = logging.getLogger("pisces.ipc")
"""Every message of the wire, for `PI_PYTHON_IPC_TRACE`; who listens masks the secrets."""

Pipe = Literal["frames", "stdout", "stderr"]
PIPES: tuple[Pipe, ...] = ("frames", "stdout", "stderr")
_SLATE_BYTES = 8
_READ_BYTES = 1 << 16  # What a pipe holds: one read empties it.


class Channels:
    """The host's ends; made together with the guest's, which are closed here as soon as they have been sent."""

    def __init__(self) -> None:
        """Open them all. Raises `OSError`, and has none open then, when the system gives no more descriptors."""
        self._loop = asyncio.get_running_loop()
        self._fds: dict[Pipe, int] = {}
        self._guest_fds: list[int] = []
        with ExitStack() as undo:
            self._control, guest_control = socket.socketpair()
            undo.callback(self._control.close)
            self._guest_fds.append(guest_control.detach())
            undo.callback(self.forget_guest_ends)
            self._control.setblocking(False)
            for name in PIPES:
                self._fds[name] = self._pipe()
                undo.callback(os.close, self._fds[name])
            self._trace = self._pipe()
            undo.callback(os.close, self._trace)
            slate = anonymous_file("pisces-slate")
            self._guest_fds.append(slate)
            os.truncate(slate, _SLATE_BYTES)
            self._slate = mmap.mmap(slate, _SLATE_BYTES)
            undo.pop_all()
        self._begun_at_close = 0
        self._paused: set[Pipe] = set(PIPES)
        self._ready: set[Pipe] = set()
        self._ended: set[Pipe] = set()
        self._waiter: asyncio.Future[None] | None = None
        self._outgoing = bytearray()
        self.active = False
        """Whether somebody is going to read: then a readable pipe need not be paused."""

    def _pipe(self) -> int:
        read, write = os.pipe()
        os.set_blocking(read, False)
        self._guest_fds.append(write)
        return read

    def guest_ends(self) -> list[int]:
        """Control, frames, stdout, stderr, trace, slate: to be sent to the supervisor, then `forget_guest_ends`."""
        return self._guest_fds

    def forget_guest_ends(self) -> None:
        """Close our copies, so that a pipe ends when the guest does."""
        for fd in self._guest_fds:
            os.close(fd)
        self._guest_fds = []

    def send(self, data: bytes) -> None:
        """Send a request; what does not fit goes out as the guest reads. Raises `ConnectionError` when it is gone."""
        _ipc.debug("host to kernel: %s", data)
        if not self._outgoing:
            try:
                data = data[self._control.send(data) :]
            except BlockingIOError:
                pass
        if data:
            self._outgoing += data
            self._loop.add_writer(self._control.fileno(), self._on_writable)

    def send_with_descriptor(self, data: bytes, fd: int) -> None:
        """Send a request together with a descriptor, between cells: nothing is waiting to be sent then."""
        _ipc.debug("host to kernel, with a descriptor: %s", data)
        try:
            self._control.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        except BlockingIOError as error:
            raise ConnectionError("the kernel does not read what it is asked") from error

    def _on_writable(self) -> None:
        try:
            del self._outgoing[: self._control.send(self._outgoing)]
        except BlockingIOError:
            return
        except ConnectionError:
            self._outgoing.clear()  # The guest is gone, which whoever waits for its answer hears of.
        if not self._outgoing:
            self._loop.remove_writer(self._control.fileno())

    def take_ready(self) -> set[Pipe]:
        """The pipes that have become readable since this was last asked."""
        ready, self._ready = self._ready, set()
        return ready

    def read(self, pipe: Pipe) -> bytes:
        """What is there now; empty when there is nothing, or the pipe has ended."""
        if pipe in self._ended:
            return b""
        try:
            data = os.read(self._fds[pipe], _READ_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            self._ended.add(pipe)
            self._pause(pipe)
        _ipc.debug("kernel to host, %s: %s", pipe, data)
        return data

    def has_ended(self, pipe: Pipe) -> bool:
        """Whether the other end is closed, and all that came has been read."""
        return pipe in self._ended

    def last_begun(self) -> int:
        """The number of the last cell that the guest has begun; 0 before any."""
        return self._begun_at_close if self._slate.closed else int.from_bytes(self._slate[:], "little")

    def read_trace(self) -> str:
        """What faulthandler wrote, if anything."""
        if self._slate.closed:
            return ""
        try:
            return os.read(self._trace, 1 << 16).decode("utf-8", "replace")
        except BlockingIOError:
            return ""

    async def wait(self) -> None:
        """Until something can be read, or `wake` is called. One waiter at a time."""
        for pipe in tuple(self._paused):
            if pipe not in self._ended:
                self._paused.discard(pipe)
                self._loop.add_reader(self._fds[pipe], self._on_readable, pipe)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def wake(self) -> None:
        """End a `wait`."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        """Close everything; it can be called more than once."""
        if self._control.fileno() < 0:
            return
        self.forget_guest_ends()
        for pipe, fd in self._fds.items():
            self._pause(pipe)
            os.close(fd)
        os.close(self._trace)
        self._begun_at_close = self.last_begun()
        self._slate.close()
        self._ended = set(PIPES)
        self._loop.remove_writer(self._control.fileno())
        self._control.close()
        self.wake()

    def _on_readable(self, pipe: Pipe) -> None:
        if self._waiter is not None:
            self._ready.add(pipe)
            self.wake()
        elif not self.active:
            # Output between cells stays in the pipe for the next cell; it must not keep the loop spinning.
            self._pause(pipe)

    def _pause(self, pipe: Pipe) -> None:
        if pipe not in self._paused:
            self._paused.add(pipe)
            self._loop.remove_reader(self._fds[pipe])


def anonymous_file(name: str) -> int:
    """The descriptor of a file without a name in any folder; `name` is for those who list what is open."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name)
    fd, path = tempfile.mkstemp(prefix=name)
    os.unlink(path)
    return fd
