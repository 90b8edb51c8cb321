"""Holding one kernel of any language: starting it, telling how it ended, and ending all that it started.

The host starts this in its own interpreter and speaks to it over one socket. It runs no code of the user's, so it can
always act. The kernel is its child, in a session of its own; it is a subreaper, so whatever the kernel leaves behind
becomes its child too. When the host goes away, however it goes, it ends everything and itself.

The host sends single bytes, `INTERRUPT` and the like. It gets lines of JSON: `pid` when there is a process, `refused`
with the reason when the command could not be run, `signalled` after each interrupt, `code` or `signal` when the kernel
has ended. When the socket closes, all is gone, and the folder of the kernel with it.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import socket
import time

from . import processes
from .memory_watch import Allowance, MemoryWatch, held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

INTERRUPT = ord("i")
KILL = ord("k")
FRESH = ord("f")
"""The kernel has started and has run nothing yet: what it holds now is not counted as used."""

_KILL_ROUNDS = 10
_ROUND_SECONDS = 1.0
_NOT_FOUND = 127


class Tether:
    """Serves one host and holds one kernel, in one thread, until either ends."""

    def __init__(self, host: socket.socket, order: dict[str, Any]) -> None:
        """What is ordered: `host`, `command`, `cwd`, `folder`, `open_files`, `memory_limit_mb`."""
        self._host = host
        self._order = order
        self._kernel = 0
        self._ended = False
        self._running = True
        self._adopts = False
        """Whether orphans below us become our children."""
        self._allowed_mb: int = order["memory_limit_mb"]
        self._allowance: Allowance | None = None
        self._memory = MemoryWatch()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def serve(self) -> None:
        """Until the kernel has ended, or the host asks for its end or has gone."""
        processes.set_dumpable(False)
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)  # The host decides when we end.
        processes.continue_with_parent()
        self._adopts = processes.become_subreaper()
        poller = select.poll()
        watched = self._watch_host()
        for fd in (self._host.fileno(), self._wake_read, *watched):
            poller.register(fd, select.POLLIN)
        if self._running:
            self._begin()
        while self._running:
            for fd, _ in poller.poll(self._patience_ms()):
                if fd == self._wake_read:
                    os.read(self._wake_read, 4096)
                elif fd == self._host.fileno():
                    self._read_host()
                else:
                    self._running = False  # The host's process has ended.
            self._reap()
            self._watch_memory()
        self._end_everything()

    def _begin(self) -> None:
        self._start()

    def _patience_ms(self) -> int | None:
        return None if self._allowance is None else math.ceil(self._memory.timeout() * 1000)

    def _watch_host(self) -> list[int]:
        # The socket alone would not do: a process that the host forked may hold its end open.
        if os.getppid() != self._order["host"]:
            self._running = False
            return []
        try:
            return [os.pidfd_open(self._order["host"])]
        except (AttributeError, OSError):
            return []

    def _start(self) -> None:
        tether = os.getpid()
        try:
            self._kernel = os.fork()
        except OSError as error:
            self._send({"refused": f"no process could be made: {error.strerror}"})
            self._running = False
            return
        if self._kernel == 0:
            self._become_kernel(tether)
        self._send({"pid": self._kernel})

    def _become_kernel(self, tether: int) -> NoReturn:
        """In the child. What we opened closes by itself when the command is run."""
        try:
            os.setsid()
            processes.set_dumpable(True)  # Or its score when memory runs out would be root's to set.
            _forget_signals()
            _limit(self._order["open_files"])
            processes.set_cookie_limit(0, os.environ[processes.COOKIE_VARIABLE])
            processes.be_expendable()
            processes.end_with(tether)
            self._run_command(tether)
        except BaseException as error:  # The process ends here whatever happened.
            self._send({"refused": getattr(error, "strerror", None) or str(error)})
        finally:
            os._exit(_NOT_FOUND)

    def _run_command(self, tether: int) -> None:
        _change_folder(self._order["cwd"])
        command = self._order["command"]
        # Where there is no signal at a parent's end, kernels that know this variable look for themselves.
        os.execvpe(command[0], command, {**os.environ, "JPY_PARENT_PID": str(tether)})

    def _read_host(self) -> None:
        try:
            asked = self._host.recv(4096)
        except ConnectionError:
            asked = b""
        if asked:
            self._heed(asked)
        else:
            self._running = False

    def _heed(self, asked: bytes) -> None:
        if KILL in asked:
            self._running = False
            return
        for what in asked:
            if what == INTERRUPT:
                self._interrupt()
            elif what == FRESH and self._allowed_mb:
                self._allowance = Allowance(self._allowed_mb, held(self._kernel))

    def _interrupt(self) -> None:
        try:
            if not self._ended:
                processes.continue_if_stopped(self._kernel)
                os.killpg(self._kernel, signal.SIGINT)
        except (ProcessLookupError, PermissionError):
            pass  # It leads no group yet: then it runs nothing that could be interrupted.
        self._send({"signalled": True})

    def _watch_memory(self) -> None:
        if self._allowance is None or not self._running or not self._memory.is_due():
            return
        if self._allowance.is_exceeded_by(processes.descendants(os.getpid())):
            processes.kill(self._kernel)
            cause = f"used more than the {self._allowed_mb} MiB that python.memoryLimitMb allows, and was killed"
            self._reap_kernel(cause)

    def _reap(self, cause: str = "") -> bool:
        """Collect every child that has ended; tell of the kernel, with which all else ends. False: no child is left."""
        while True:
            try:
                pid, status = processes.reap()
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._kernel and not self._ended:
                self._ended = True
                ended = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}
                self._conclude({**ended, "cause": cause})

    def _conclude(self, told: dict[str, Any]) -> None:
        self._running = False
        self._end_group()
        self._send(told)

    def _reap_kernel(self, cause: str) -> None:
        deadline = time.monotonic() + _ROUND_SECONDS
        while not self._ended and time.monotonic() < deadline:
            self._reap(cause)
            time.sleep(0.001)
        self._running = False

    def _end_everything(self) -> None:
        """Until there is no child left: whatever loses its parent becomes one."""
        if self._kernel and not self._ended:
            self._end_group()
        for round_number in range(_KILL_ROUNDS):
            below = processes.descendants(os.getpid())
            for pid in below:
                # What multiprocessing started to remove shared memory does so when all who could need it have gone.
                if round_number or not processes.tracks_resources(pid):
                    processes.kill(pid)
            deadline = time.monotonic() + _ROUND_SECONDS
            while time.monotonic() < deadline:
                if not self._reap():
                    return
                if not any(map(processes.start_time, below)):
                    break  # What is there now has come since we looked.
                time.sleep(0.001)

    def _end_group(self) -> None:
        """All that can be done where the system does not list the processes below us; elsewhere they are found."""
        try:
            os.killpg(self._kernel, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            if not self._ended:
                processes.kill(self._kernel)  # It does not lead its group yet.

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._host.sendall(json.dumps(message).encode("ascii") + b"\n")
        except OSError:
            self._running = False


def _forget_signals() -> None:
    """Have every signal do what it does by default, whatever we, or those who started us, had set."""
    signal.set_wakeup_fd(-1)
    for signum in signal.valid_signals():
        try:
            signal.signal(signum, signal.SIG_DFL)
        except (OSError, ValueError):
            continue  # This one cannot be set.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _limit(open_files: int) -> None:
    """As many open files as the host was started with, and no core dumps."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if open_files < soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _change_folder(path: str) -> None:
    try:
        os.chdir(path)
    except OSError:
        os.chdir("/")


def _remove(folder: str) -> None:
    """The connection file and the sockets: nobody else can, if the host has been killed."""
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:
        pass  # The host was quicker.


def hold(host_fd: int, order: str) -> None:
    """Hold the kernel that the host behind this descriptor has ordered, until all of it has ended."""
    host = socket.socket(fileno=host_fd)
    os.set_inheritable(host_fd, False)
    ordered = json.loads(order)
    try:
        Tether(host, ordered).serve()
    finally:
        _remove(ordered["folder"])
        os._exit(0)
