"""The host's side of a supervisor: starting it, asking it for kernels, hearing of their ends.

Below is `guest/zygote.py`, on the other end of one unix socket. When that socket closes, the supervisor and all below
it are taken for dead and made sure of: by process group, and only where pid and start time are those recorded.
"""

import array
import asyncio
import logging
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.remains import end_remains
from pisces.model.events import ProcessExit

GUEST = Path(__file__).parents[2] / "guest"
"""The folder of the code that runs in the user's interpreter."""
NO_DESCRIPTORS = "Allow more open files (`ulimit -n`), or have fewer sessions at once."
"""What to do when the system gives the host no more descriptors."""
_START_CAP = 30.0
_END_CAP = 5.0
_SEND_CAP = 2.0

_log = logging.getLogger(__name__)
_ipc = logging.getLogger("pisces.ipc")
_startup = logging.getLogger("pisces.startup")
_json = msgspec.json.Decoder()


class KernelWatcher(Protocol):
    """Who wants to hear of a kernel's life."""

    def on_spawned(self, pid: int, start_time: int) -> None: ...
    def on_signalled(self) -> None: ...
    def on_refused(self, reason: str) -> None: ...
    def on_exited(self, ended: ProcessExit) -> None: ...
    def on_cleared(self) -> None: ...


class Zygote:
    """One supervisor process, for one interpreter and one start-up environment."""

    def __init__(self, interpreter: str, env: Mapping[str, str]) -> None:
        self._interpreter = interpreter
        self._env = env
        self._loop = asyncio.get_running_loop()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._buffer = b""
        self._hello = anyio.Event()
        self._gone = anyio.Event()
        self._kernels: dict[str, KernelWatcher] = {}
        self.has_subreaper = False

    @property
    def alive(self) -> bool:
        """Whether it can be asked for a kernel."""
        return self._socket is not None and not self._gone.is_set()

    async def start(self, deadline: Deadline) -> None:
        """Start the process and wait for its greeting. On any failure nothing is left of it."""
        try:
            self._launch()
            with deadline.scope(_START_CAP) as scope:
                await self._hello.wait()
            if scope.cancelled_caught and deadline.expired:
                raise DeadlineExceeded(f"{self._interpreter} did not start within {deadline.seconds:g} seconds")
            if scope.cancelled_caught:
                raise KernelStartError(f"{self._interpreter} did not begin to run within {_START_CAP:g} seconds")
            if not self.alive:
                raise KernelStartError(f"{self._interpreter} could not run a kernel: {self._last_words()}")
            _startup.debug("supervisor up")
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.stop()
            raise
        finally:
            self._close_stderr()

    def _launch(self) -> None:
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            reason = f"Cannot open a socket for {self._interpreter}: {error.strerror or error}"
            raise KernelStartError(reason, hint=NO_DESCRIPTORS) from error
        try:
            self._process = subprocess.Popen(
                [self._interpreter, str(GUEST / "__main__.py"), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=dict(self._env),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise KernelStartError(f"Cannot run {self._interpreter}: {error.strerror or error}") from error
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self._loop.add_reader(ours.fileno(), self._on_readable)

    def _last_words(self) -> str:
        assert self._process is not None and self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        text = (self._process.stderr.read() or b"").decode("utf-8", "replace").strip()
        return text[-2000:] or f"it ended with code {self._process.poll()} and said nothing"

    def _close_stderr(self) -> None:
        if self._process is not None and self._process.stderr is not None:
            self._process.stderr.close()

    def spawn(self, name: str, watcher: KernelWatcher, request: Mapping[str, Any], fds: Sequence[int]) -> None:
        """Ask for a kernel; the watcher hears of what becomes of it."""
        self._kernels[name] = watcher
        self._send({"type": "spawn", "kernel": name, **request}, fds)

    def signal(self, name: str, signum: int) -> None:
        """Send a signal to the process group of a kernel; `on_signalled` tells that it has it, or is gone."""
        self._send({"type": "signal", "kernel": name, "signal": signum})

    def kill(self, name: str) -> None:
        """End a kernel and all it started; `on_exited`, then `on_cleared` tell of it."""
        self._send({"type": "kill", "kernel": name})

    async def stop(self) -> None:
        """End it and everything below it, and wait until it is gone."""
        if self._process is None:
            return
        if self._hello.is_set():
            self._send({"type": "exit"})
            with anyio.move_on_after(_END_CAP):
                await self._gone.wait()
        if self._process.poll() is None and not self._gone.is_set():
            self._kill(self._process)
        self._lose()
        await self._reap(self._process)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """End one that does not answer, and what a wrapper around it may have started: it leads a group."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # It ended in this moment, which is what we want.

    async def _reap(self, process: subprocess.Popen[bytes]) -> None:
        """Collect the exit status; the socket closes a moment before the process ends."""
        try:
            await anyio.to_thread.run_sync(process.wait, _END_CAP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _send(self, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
        if self._socket is None:
            return
        data = msgspec.json.encode(message) + b"\n"
        _ipc.debug("host to supervisor: %s", data)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            # The messages are small and the supervisor always reads: this lasts microseconds, unless it was stopped.
            self._socket.settimeout(_SEND_CAP)
            sent = self._socket.sendmsg([data], ancillary)
            self._socket.sendall(data[sent:])
            self._socket.setblocking(False)
        except OSError as error:
            _log.debug("supervisor of %s is gone: %s", self._interpreter, error)
            if isinstance(error, TimeoutError) and self._process is not None:
                self._kill(self._process)  # It does not read: it never will do anything for us again.
            self._lose()

    def _on_readable(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._lose()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            _ipc.debug("supervisor to host: %s", line)
            self._handle(_json.decode(line))

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "hello":
            self.has_subreaper = message["subreaper"]
            self._hello.set()
            return
        watcher = self._kernels.get(message["kernel"])
        if watcher is None:
            return
        if kind == "spawned":
            watcher.on_spawned(message["pid"], message["start_time"])
        elif kind == "signalled":
            watcher.on_signalled()
        elif kind == "refused":
            watcher.on_refused(message["reason"])
        elif kind == "exited":
            watcher.on_exited(ProcessExit(code=message.get("code"), signal=message.get("signal")))
        elif kind == "cleared":
            del self._kernels[message["kernel"]]
            watcher.on_cleared()

    def _lose(self) -> None:
        """The supervisor is gone: so are its kernels, and if not, they are made so."""
        if self._socket is not None:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
        self._hello.set()
        self._gone.set()
        kernels, self._kernels = self._kernels, {}
        if kernels:
            end_remains(kernels)
        for watcher in kernels.values():
            watcher.on_exited(ProcessExit(signal=signal.SIGKILL, detail="the supervisor process has ended"))
            watcher.on_cleared()
