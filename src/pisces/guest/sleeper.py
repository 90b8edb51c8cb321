"""A process that sleeps until it is wanted as a kernel: the template of new kernels, or a checkpoint of one.

It waits on a socket of its own, to the host. Each time it is woken, a copy of it goes on as a kernel while it sleeps
on: so it can be woken again and again, and what it holds in memory is shared by all that came from it. When the system
refuses a copy, the host is told why, and nothing else has changed.
It ends only by `os._exit`: what a program does at its end (removing temporary folders, say) is the live kernel's.
"""

from __future__ import annotations

from . import forking, memory_limit, processes
from .copied_descriptors import OpenFiles, let_go
from .requests import receive_with_descriptors, split_requests
from .stdlib import _socket as socket
from .stdlib import gc, json, os, signal, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Save = Callable[[int], None]


_encode = json.JSONEncoder().encode  # Bound, as a cell may replace the method.

KERNEL_FDS = 6
"""Control, frames, stdout, stderr, trace, slate: what a kernel has to the host."""


class Woken:
    """What a process needs to go on as a kernel: the host's message and the descriptors that came with it."""

    def __init__(self, message: dict[str, Any], fds: list[int]) -> None:
        self.message = message
        self.fds = fds


class Sleeper:
    """`facts` are told to the host: what it should know before it wakes this process."""

    def __init__(self, host: socket.socket, facts: dict[str, Any], save: Save) -> None:
        self._host = host
        self._facts = facts
        self._save = save
        self._buffer = bytearray()

    def sleep(self) -> Woken:
        """Returns in every copy that is to be a kernel; never here."""
        # A handler of the user's is not to run here, and not to hear of our own children.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        # A collection would copy pages, and call libraries that wait for threads which are not here: jpype does.
        collects = gc.isenabled()
        gc.disable()
        self._say({"type": "asleep", "pid": os.getpid(), **self._facts})
        while True:
            data, fds = receive_with_descriptors(self._host)
            if not data:
                os._exit(0)  # Nobody can wake us any more.
            for request in split_requests(self._buffer, data):
                if request["type"] == "wake":
                    own, fds = fds[:KERNEL_FDS], fds[KERNEL_FDS:]
                    if self._copy_ourselves(own):
                        if collects:
                            gc.enable()
                        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                        return Woken(request, own)
                    _close(own)
                elif request["type"] == "save":
                    self._save_in_a_child(fds[0], request["seconds"])
            _close(fds)

    def _copy_ourselves(self, own: list[int]) -> bool:
        """True in the copy, which the host has been told of; or it has been told why there is none.

        The copy shares no descriptor with us but its `own`: nothing that it does shows in the next one that is woken.
        """
        files = OpenFiles()
        try:
            between = forking.fork_aside(self._say_woken, self._refuse)
        except Exception as error:
            self._refuse(error)
            return False
        if between:
            collect(between)
            return False
        self._host.close()
        forking.close_mark()
        let_go(files, keep=own)
        return True

    def _say_woken(self, pid: int) -> None:
        self._say({"type": "woken", "pid": pid, "start_time": processes.start_time(pid)})

    def _refuse(self, error: Exception) -> None:
        self._say({"type": "refused", "reason": str(error)})

    def _save_in_a_child(self, fd: int, seconds: float) -> None:
        """Write the variables; in a child, because it may hang, and because we may be wanted again."""
        files = OpenFiles()
        try:
            pid = forking.fork_child()
        except Exception as error:
            self._refuse(error)
            return
        if pid == 0:
            code = 1
            try:
                let_go(files, keep={fd})
                processes.be_expendable()
                memory_limit.bound_extra()
                self._save(fd)
                code = 0
            finally:
                os._exit(code)
        deadline = time.monotonic() + seconds
        while not _has_ended(pid):
            if time.monotonic() > deadline:
                processes.kill(pid)
            time.sleep(0.001)
        self._say({"type": "saved"})

    def _say(self, message: dict[str, Any]) -> None:
        try:
            self._host.sendall(_encode(message).encode("utf-8") + b"\n")
        except OSError:
            os._exit(0)  # As above.


def say_failed(host: socket.socket, reason: str) -> None:
    """Say on the socket of a copy why there is none; who waits for it hears that before the kernel is listened to."""
    try:
        host.sendall(_encode({"type": "failed", "reason": reason}).encode("utf-8") + b"\n")
    except OSError:
        pass  # Nobody waits for it any more.


def collect(child: int) -> bool:
    """Wait until a child has ended, and return whether it ended well, as far as that can be known."""
    try:
        return os.waitpid(child, 0)[1] == 0
    except ChildProcessError:
        return True  # The user's code ignores SIGCHLD: then nobody has to be collected.


def _has_ended(child: int) -> bool:
    try:
        return processes.reap(child)[0] == child
    except ChildProcessError:
        return True  # As above.


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
