"""The supervisor: a small process that has kernels made, reaps them, and ends all they started.

It is started by the host in the user's interpreter and runs no user code, so it can always act. Kernels are its
children, never the host's; it is a subreaper, so whatever a kernel leaves behind becomes its child too. When the host
goes away, however it goes, the supervisor ends everything and itself.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import socket
import sys
import time

from . import processes
from .memory_watch import MemoryWatch
from .requests import receive_with_descriptors, split_requests
from .sleeper import KERNEL_FDS, Woken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .memory_watch import Allowance

_KILL_ROUNDS = 50
_KILL_SECONDS = 5.0


class _Kernel:
    """What the supervisor knows of a kernel, or of the template that kernels come from."""

    def __init__(self, name: str, pid: int, cookie: str, allowance: Allowance, *, template: bool) -> None:
        self.template = template
        self.name = name
        self.pid = pid
        self.cookie = cookie
        self.allowance = allowance
        self.alive = True


class Supervisor:
    """Serves one host over one socket, in one thread, until that socket closes."""

    def __init__(self, host: socket.socket, idle: float) -> None:
        self._host = host
        self._idle = idle
        self._host_pid = os.getppid()
        self._buffer = bytearray()
        self._watched: list[int] = []
        self._fds: list[int] = []
        self._kernels: dict[str, _Kernel] = {}
        self._asleep: set[int] = set()
        """Children that were found to be copies that sleep; they stay so until they are reaped."""
        self._memory = MemoryWatch()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._running = True

    def serve(self) -> None:
        """Until the host closes its end, asks for the end, or dies."""
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)  # The host decides when we end.
        processes.continue_with_parent()
        self._send({"type": "hello", "pid": os.getpid(), "subreaper": processes.become_subreaper()})
        poller = select.poll()
        self._watched = self._watch_host()
        for fd in (self._host.fileno(), self._wake_read, *self._watched):
            poller.register(fd, select.POLLIN)
        while self._running:
            watched = any(kernel.allowance.mb for kernel in self._kernels.values())
            in_use = any(not kernel.template for kernel in self._kernels.values())
            seconds = self._memory.timeout() if watched else None if in_use else self._idle
            events = poller.poll(None if seconds is None else math.ceil(seconds * 1000))
            if not events and not in_use:
                break  # Without a kernel for so long, nobody needs us: the host starts another when it does.
            for fd, _ in events:
                if fd == self._wake_read:
                    self._drain_wakeups()
                elif fd == self._host.fileno():
                    self._read_host()
                else:
                    self._running = False  # The host's process has ended.
            self._reap()
            self._end_the_greedy()
        self._end_everything()

    def _watch_host(self) -> list[int]:
        # The socket alone would not do: a process that the host forked may hold its end open.
        try:
            return [os.pidfd_open(self._host_pid)]
        except (AttributeError, OSError):
            return []

    def _drain_wakeups(self) -> None:
        try:
            os.read(self._wake_read, 4096)
        except BlockingIOError:
            pass

    def _read_host(self) -> None:
        data, fds = receive_with_descriptors(self._host)
        self._fds += fds
        if not data:
            self._running = False
        for message in split_requests(self._buffer, data):
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        kernel = self._kernels.get(message.get("kernel", ""))
        if kind == "template":
            self._fork(message, 1, self._become_template)
        elif kind == "spawn":
            self._fork(message, KERNEL_FDS, self._become_kernel)
        elif kind == "adopt":
            self._adopt(message)
        elif kind == "exit":
            self._running = False
        elif kind == "ping":
            self._continue_sleepers()
            self._send({"type": "pong"})
        elif kind == "end_copy":
            self._end_copy(message["pid"])
        elif kind == "signal":
            self._signal(kernel, message["signal"])
            self._send({"type": "signalled", "kernel": message["kernel"]})
        elif kind == "kill" and kernel is not None and kernel.alive:
            self._end(kernel)

    def _continue_sleepers(self) -> None:
        """The host waits for something: perhaps for a copy that cannot be woken because a signal has stopped it."""
        for pid in processes.children(os.getpid()):
            if processes.sleeps(pid):
                processes.continue_if_stopped(pid)

    def _end_copy(self, pid: int) -> None:
        """End a sleeping copy that hangs, in code of the user's that runs at a fork, with what it has just forked."""
        if pid in processes.children(os.getpid()) and processes.sleeps(pid):
            for each in (pid, *processes.descendants(pid)):
                processes.kill(each)

    def _signal(self, kernel: _Kernel | None, signum: int) -> None:
        if kernel is None or not kernel.alive:
            return
        try:
            processes.continue_if_stopped(kernel.pid)
            os.killpg(kernel.pid, signum)
        except ProcessLookupError:
            pass  # It died, or has not become a group leader yet: then it runs no code of the user's either.

    def _fork(self, message: dict[str, Any], count: int, become: Callable[[dict[str, Any], list[int]], None]) -> None:
        """Fork a process that becomes the template or a kernel, with the descriptors that came for it."""
        fds, self._fds = self._fds[:count], self._fds[count:]
        try:
            pid = os.fork()
        except OSError as error:
            self._send({"type": "refused", "kernel": message["kernel"], "reason": str(error)})
        else:
            if pid == 0:
                self._become(lambda: become(message, fds))
            self._keep(message, pid)
        finally:
            for fd in fds:
                os.close(fd)

    def _adopt(self, message: dict[str, Any]) -> None:
        """A process among our children, a copy of one that sleeps, is a kernel from now on."""
        pid = message["pid"]
        if processes.start_time(pid) == message["start_time"]:
            self._keep(message, pid)
        else:
            self._send({"type": "refused", "kernel": message["kernel"], "reason": "the process has ended already"})

    def _keep(self, message: dict[str, Any], pid: int) -> None:
        name = message["kernel"]
        fresh = message.get("fresh", False)
        allowance = self._memory.allowance(message.get("memory_limit_mb", 0), pid, fresh=fresh)
        template = message["type"] == "template"
        self._asleep.discard(pid)
        self._kernels[name] = _Kernel(name, pid, message.get("cookie", name), allowance, template=template)
        self._send({"type": "spawned", "kernel": name, "pid": pid, "start_time": processes.start_time(pid)})

    def _become(self, run: Callable[[], None]) -> None:
        """In the child: never returns."""
        code = 1
        try:
            processes.set_dumpable(True)  # Users debug and profile their own code.
            signal.set_wakeup_fd(-1)
            for signum in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
                signal.signal(signum, signal.SIG_DFL)
            self._host.close()
            for fd in (self._wake_read, self._wake_write, *self._watched):
                os.close(fd)
            run()
            code = 0
        except BaseException as error:  # The process ends here whatever happened; its last words are captured.
            _last_words(error)
        finally:
            os._exit(code)

    def _become_template(self, message: dict[str, Any], fds: list[int]) -> None:
        from .kernel import run_template

        run_template(message, socket.socket(fileno=fds[0]))

    def _become_kernel(self, message: dict[str, Any], fds: list[int]) -> None:
        from .kernel import run_first

        run_first(Woken(message, fds))

    def _reap(self) -> None:
        """Collect every child that has ended; tell the host of those that were kernels, then end what they left."""
        while True:
            try:
                pid, status = processes.reap()
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._asleep.discard(pid)
            kernel = next((k for k in self._kernels.values() if k.pid == pid), None)
            if kernel is not None and kernel.alive:
                kernel.alive = False
                self._report_exit(kernel, status)
                self._clear_family(kernel)

    def _end_the_greedy(self) -> None:
        """End each kernel that uses more memory than it may, with all it started."""
        if self._memory.is_due():
            for kernel in [kernel for kernel in self._kernels.values() if kernel.alive and kernel.allowance.mb]:
                mb = kernel.allowance.mb
                if kernel.allowance.is_exceeded_by({kernel.pid, *self._family(kernel)}):
                    self._end(kernel, f"used more than the {mb} MiB that python.memoryLimitMb allows, and was killed")

    def _report_exit(self, kernel: _Kernel, status: int, cause: str = "") -> None:
        ended = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}
        self._send({"type": "exited", "kernel": kernel.name, "cause": cause, **ended})

    def _end(self, kernel: _Kernel, cause: str = "") -> None:
        """End it with all it started; `cause` is why, as the host tells it: a clause, the kernel its subject."""
        family = self._family(kernel)
        for pid in (kernel.pid, *_without_trackers(family)):
            processes.kill(pid)
        status = _status_of_killed(kernel.pid)
        kernel.alive = False
        self._report_exit(kernel, status, cause)
        self._collect(family)  # One that is about to end carries no cookie any more, and would be overlooked.
        self._clear_family(kernel)

    def _family(self, kernel: _Kernel) -> set[int]:
        """What a kernel has started. Other kernels, and copies that sleep, are not looked at: there may be hundreds."""
        others = {other.pid for other in self._kernels.values() if other.alive}
        # The system may leave out a child that stands behind one that ends while it is asked.
        unknown = {*processes.children(os.getpid()), *processes.children(os.getpid())} - others - self._asleep
        self._asleep |= {pid for pid in unknown if processes.sleeps(pid)}
        return processes.family(kernel.pid, kernel.cookie, unknown - self._asleep)

    def _clear_family(self, kernel: _Kernel) -> None:
        """End what a dead kernel has left; it may fork while we look, so look until nothing is found."""
        for round_number in range(_KILL_ROUNDS):
            family = self._family(kernel)
            if not family:
                break
            for pid in family if round_number else _without_trackers(family):
                processes.kill(pid)
            self._collect(family)
            self._send({"type": "pong"})  # This may take long, if the system holds one of them: we are still well.
        del self._kernels[kernel.name]
        self._send({"type": "cleared", "kernel": kernel.name})

    def _collect(self, pids: set[int]) -> None:
        """Wait a moment for orphans that end, so that they are not found again."""
        deadline = time.monotonic() + 1.0
        for pid in pids:
            while time.monotonic() < deadline:
                try:
                    if processes.reap(pid)[0] == pid:
                        self._asleep.discard(pid)
                        break
                except ChildProcessError:
                    if processes.start_time(pid) == 0:
                        break
                time.sleep(0.001)

    def _end_everything(self) -> None:
        """Until there is no child left: whatever loses its parent becomes one."""
        self._kernels.clear()
        for round_number in range(_KILL_ROUNDS):
            below = processes.descendants(os.getpid())
            for pid in below if round_number else _without_trackers(below):
                processes.kill(pid)
            self._collect(below)
            try:
                processes.reap()
            except ChildProcessError:
                return

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._host.sendall(json.dumps(message).encode("utf-8") + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            self._running = False


def _without_trackers(family: set[int]) -> set[int]:
    """All but what multiprocessing started to remove shared memory: it does so when all who could need it have gone."""
    return {pid for pid in family if not processes.tracks_resources(pid)}


def _status_of_killed(pid: int) -> int:
    """How it ended. A copy that has just been woken is not our child yet, and one that the system holds ends later."""
    deadline = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < deadline:
        try:
            ended, status = processes.reap(pid)
            if ended:
                return status
        except ChildProcessError:
            if processes.start_time(pid) == 0:
                break
        time.sleep(0.0002)
    return int(signal.SIGKILL)


def _last_words(error: BaseException) -> None:
    text = f"The kernel could not go on: {type(error).__name__}: {error}\n"
    if os.environ.get("PI_DEBUG"):
        import traceback

        text = traceback.format_exc()
    try:
        os.write(2, text.encode("utf-8", "replace"))
    except OSError:
        pass  # The cell closed it: nobody can be told.


def _forget_tunable() -> None:
    """Take out of the environment what the host put there for the C library, which has read it by now: the last one."""
    *others, _ = os.environ.get("GLIBC_TUNABLES", "").split(":")
    if others:
        os.environ["GLIBC_TUNABLES"] = ":".join(others)
    else:
        os.environ.pop("GLIBC_TUNABLES", None)


def supervise(host_fd: int, idle: float) -> None:
    """Serve the host behind this descriptor, until it goes or there has been no kernel for `idle` seconds."""
    host = socket.socket(fileno=host_fd)
    os.set_inheritable(host_fd, False)
    processes.set_dumpable(False)  # What kernels are told, tokens included, passes through our memory.
    _forget_tunable()
    supervisor = Supervisor(host, idle)
    try:
        supervisor.serve()
    finally:
        sys.stderr.flush()
        os._exit(0)
