"""The host's side of a supervisor: starting it, asking it for kernels, hearing of their ends.

Below is `guest/zygote.py`, on the other end of one unix socket. When that socket closes, the supervisor and all below
it are taken for dead and made sure of: by process group, and only where pid and start time are those recorded.
"""

import array
import asyncio
import logging
import os
import secrets
import signal
import socket
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.descriptors import open_files_limit
from pisces.kernels.native.remains import end_remains
from pisces.kernels.native.sleepers import Sleeper, WokenCopy
from pisces.model.events import ProcessExit
from pisces.settings.recorded_process import RecordedProcess

GUEST = Path(__file__).parents[2] / "guest"
"""The folder of the code that runs in the user's interpreter."""
NO_DESCRIPTORS = "Allow more open files (`ulimit -n`), or have fewer sessions at once."
"""What to do when the system gives the host no more descriptors."""
_LOST_WITH_SUPERVISOR = "was ended together with its checkpoints, because its supervisor process {}"
_START_CAP = 30.0
_END_CAP = 5.0
_SEND_CAP = 2.0
_LOOK_SECONDS = 10.0
"""How often to look whether a signal has stopped a supervisor that is not asked for anything: that takes 20 µs."""
_ANSWER_SECONDS = 1.0
"""The same while it owes an answer. Answers take milliseconds, and the kernels are not asked through it."""
_MOST_SILENT_LOOKS = 20
"""So many looks in a row may pass without an answer. Looks are counted because the machine may have been asleep."""
_STACKS = "glibc.pthread.stack_cache_size=8589934592"
"""Has the C library keep the stacks of threads that have ended, up to 8 GiB of addresses instead of 40 MiB. In a copy
all other threads have ended, and a library that joins its own reads their stacks: duckdb ended the kernel with SIGSEGV.
The guest takes this out of the environment again; programs that a cell starts need not have it."""
_GIVE_UP_AFTER = 0.05
_WARM_UP_CAP = 60.0
"""For the imports of the template, `python.preload` among them; the call's own deadline counts too."""

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

    def __init__(self, interpreter: str, env: Mapping[str, str], *, preload: Sequence[str], idle: float) -> None:
        """It ends itself when it has had no kernel for `idle` seconds."""
        self._interpreter = interpreter
        self._env = env
        self._preload = tuple(preload)
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._buffer = b""
        self._hello = anyio.Event()
        self._gone = anyio.Event()
        self._kernels: dict[str, KernelWatcher] = {}
        self._template: Sleeper | None = None
        self._templating = anyio.Lock()
        self._given_up: list[Sleeper] = []
        self._checkpoints: weakref.WeakSet[Sleeper] = weakref.WeakSet()
        self._recorded = RecordedProcess(0)
        self._next_look: asyncio.TimerHandle | None = None
        self._silent_looks = -1
        """How many looks have passed since it was asked for something; -1 when it owes no answer."""
        self.pid = 0
        self.keeps_orphans = False
        """Whether it is the parent of every process that a kernel leaves behind: without that, nothing can sleep."""
        self.warnings: list[str] = []
        """What the user should know about `python.preload`."""

    @property
    def alive(self) -> bool:
        """Whether it can be asked for a kernel."""
        return self._socket is not None and not self._gone.is_set()

    @property
    def idle(self) -> bool:
        """Whether no kernel comes from it and none can come back: there is nothing but what others would come from."""
        return not self._has_kernels and not self._has_checkpoints

    @property
    def _has_kernels(self) -> bool:
        return any(not isinstance(watcher, _TemplateWatcher) for watcher in self._kernels.values())

    @property
    def _has_checkpoints(self) -> bool:
        return any(sleeper.usable for sleeper in self._checkpoints)

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
            if self.keeps_orphans:
                await self.template(deadline)
                _startup.debug("template warm")
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
                [self._interpreter, str(GUEST / "__main__.py"), str(theirs.fileno()), str(self._idle)],
                pass_fds=[theirs.fileno()],
                env={**self._env, "GLIBC_TUNABLES": ":".join(filter(None, [self._env.get("GLIBC_TUNABLES"), _STACKS]))},
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

    async def template(self, deadline: Deadline) -> Sleeper:
        """The process that new kernels come from; a new one where the last has died."""
        async with self._templating:
            while self._template is None or not self._template.usable:
                self._template = await self._make_template(deadline)
            return self._template

    async def _make_template(self, deadline: Deadline) -> Sleeper | None:
        """Have it import everything. None when a module has to be left out: then it should be tried again."""
        name = secrets.token_hex(8)
        sleeper = self.open_sleeper()
        self._kernels[name] = _TemplateWatcher(sleeper)
        wanted = {"preload": self._preload, "open_files": open_files_limit()}
        self._send({"type": "template", "kernel": name, **wanted}, [sleeper.guest_end()])
        sleeper.forget_guest_end()
        try:
            self.warnings += (await sleeper.asleep(deadline, _WARM_UP_CAP)).warnings
        except (DeadlineExceeded, KernelStartError) as error:
            sleeper.close()
            self.kill(name)
            if not self.alive:
                raise KernelStartError(f"{self._interpreter} could not run a kernel: its supervisor ended") from error
            if not self._preload or deadline.expired:
                raise
            self._leave_out(sleeper.failure.module if sleeper.failure else "", str(error))
            return None
        except BaseException:
            sleeper.close()
            self.kill(name)
            raise
        return sleeper

    def _leave_out(self, module: str, why: str) -> None:
        left_out = [module] if module in self._preload else self._preload
        self._preload = tuple(name for name in self._preload if name not in left_out)
        self.warnings.append(
            f"python.preload: {', '.join(left_out)} cannot be shared by kernels and was left out: {why}"
        )
        _log.warning("%s", self.warnings[-1])

    def spawn(self, name: str, watcher: KernelWatcher, request: Mapping[str, Any], fds: Sequence[int]) -> None:
        """Ask for a kernel that has never slept; the watcher hears of what becomes of it."""
        self._kernels[name] = watcher
        self._send({"type": "spawn", "kernel": name, **request}, fds)

    def adopt(self, name: str, watcher: KernelWatcher, copy: WokenCopy, *, memory_limit_mb: int, fresh: bool) -> None:
        """Say that a copy of a sleeping process is a kernel; the watcher hears of what becomes of it.

        `fresh` if it is a copy of the template, in which no cell has run.
        """
        self._kernels[name] = watcher
        process = {"pid": copy.pid, "start_time": copy.start_time, "cookie": name}
        limits = {"memory_limit_mb": memory_limit_mb, "fresh": fresh}
        self._send({"type": "adopt", "kernel": name, **process, **limits})

    def give_up(self, sleeper: Sleeper) -> None:
        """Let a sleeping process end, a moment later.

        Freeing the memory of one takes as long as forking it, and several are given up at once: not while a call waits.
        """
        if not self.alive:
            sleeper.close()  # The process is gone, and nobody may be there in a moment.
            return
        self._given_up.append(sleeper)
        if len(self._given_up) == 1:
            self._loop.call_later(_GIVE_UP_AFTER, self._end_given_up)

    def _end_given_up(self) -> None:
        given_up, self._given_up = self._given_up, []
        for sleeper in given_up:
            if sleeper.stuck_pid:
                self._send({"type": "end_copy", "pid": sleeper.stuck_pid}, answered=False)
            sleeper.close()

    def take_warnings(self) -> tuple[str, ...]:
        """What the user should know about `python.preload`; told once."""
        warnings, self.warnings = tuple(self.warnings), []
        return warnings

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
            self._send({"type": "exit"}, answered=False)
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
        """Collect the exit status; the socket closes a moment before the process ends.

        A debugger can hold a dead process, and a stuck disk a killed one. Then the caller continues after `_END_CAP`.
        """
        try:
            await anyio.to_thread.run_sync(process.wait, _END_CAP)
        except subprocess.TimeoutExpired:
            process.kill()
            _log.warning("supervisor %d was killed and cannot be reaped yet", process.pid)
            self._reap_later(process)

    def _reap_later(self, process: subprocess.Popen[bytes]) -> None:
        """Look from time to time whether it can be reaped; no call waits for that."""
        if process.poll() is None:
            self._loop.call_later(_LOOK_SECONDS, self._reap_later, process)

    def open_checkpoint(self) -> Sleeper:
        """A sleeper for a copy of a kernel. Raises as `open_sleeper` does."""
        sleeper = self.open_sleeper()
        self._checkpoints.add(sleeper)
        return sleeper

    def open_sleeper(self) -> Sleeper:
        """A sleeper without a process yet. Raises `KernelStartError` when the system gives no more descriptors."""
        try:
            return Sleeper(on_late=self._ping)
        except OSError as error:
            reason = f"Cannot open the socket of a sleeping kernel: {error.strerror or error}"
            raise KernelStartError(reason, hint=NO_DESCRIPTORS) from error

    def _ping(self) -> None:
        """Ask whether it is well; it also continues sleeping copies that a signal has stopped."""
        self._send({"type": "ping"})

    def continue_if_stopped(self) -> None:
        """If a signal has stopped it, have it continue."""
        if self._recorded.continue_if_stopped():
            _log.warning("supervisor %d was stopped by a signal; it was continued", self.pid)

    def _look(self) -> None:
        """Is it well? One that does not answer is replaced: its kernels could not be ended, nor their ends be heard."""
        self.continue_if_stopped()
        if self._silent_looks >= 0:
            self._silent_looks += 1
        if self._silent_looks >= _MOST_SILENT_LOOKS and self._process is not None:
            _log.error("supervisor %d does not answer; it is replaced", self.pid)
            self._kill(self._process)
            self._lose("did not answer any more and was replaced")
            return
        # A supervisor that has no kernel and hears nothing ends itself, and the checkpoints with it.
        if self._silent_looks == 1 or (self._has_checkpoints and not self._has_kernels):
            self._ping()
        self._plan_look()

    def _plan_look(self) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
        if self._socket is not None:
            seconds = _LOOK_SECONDS if self._silent_looks < 0 else _ANSWER_SECONDS
            self._next_look = self._loop.call_later(seconds, self._look)

    def _send(self, message: Mapping[str, Any], fds: Sequence[int] = (), *, answered: bool = True) -> None:
        if self._socket is None:
            return
        self.continue_if_stopped()
        if answered and self._silent_looks < 0:
            self._silent_looks = 0
            self._plan_look()
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
        self._silent_looks = -1
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            _ipc.debug("supervisor to host: %s", line)
            self._handle(_json.decode(line))

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "hello":
            self.pid, self.keeps_orphans = message["pid"], message["subreaper"]
            self._recorded = RecordedProcess.of(self.pid)
            self._hello.set()
            return
        watcher = self._kernels.get(message.get("kernel", ""))
        if watcher is None:
            return
        if kind == "spawned":
            watcher.on_spawned(message["pid"], message["start_time"])
        elif kind == "signalled":
            watcher.on_signalled()
        elif kind == "refused":
            del self._kernels[message["kernel"]]
            watcher.on_refused(message["reason"])
        elif kind == "exited":
            watcher.on_exited(_process_exit(message))
        elif kind == "cleared":
            del self._kernels[message["kernel"]]
            watcher.on_cleared()

    def _lose(self, why: str = "ended") -> None:
        """The supervisor is gone: so are its kernels, and if not, they are made so."""
        if self._next_look is not None:
            self._next_look.cancel()
        if self._socket is not None:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
        self._hello.set()
        self._gone.set()
        if self._template is not None:
            self._template.close()
        self._end_given_up()
        kernels, self._kernels = self._kernels, {}
        if kernels:
            end_remains(kernels)
        for watcher in kernels.values():
            watcher.on_exited(ProcessExit(signal=signal.SIGKILL, cause=_LOST_WITH_SUPERVISOR.format(why)))
            watcher.on_cleared()


def _process_exit(message: Mapping[str, Any]) -> ProcessExit:
    return ProcessExit(message.get("code"), message.get("signal"), cause=message["cause"])


class _TemplateWatcher:
    """Nobody waits for the template but through its socket; only that it could not be forked has to be passed on."""

    def __init__(self, sleeper: Sleeper) -> None:
        self._sleeper = sleeper

    def on_spawned(self, pid: int, start_time: int) -> None:
        """It says itself when it is ready."""

    def on_signalled(self) -> None:
        """It gets no signals."""

    def on_refused(self, reason: str) -> None:
        self._sleeper.fail(f"Cannot fork a process: {reason}")

    def on_exited(self, ended: ProcessExit) -> None:
        self._sleeper.fail(f"The process that was to be the template {ended.describe()}")

    def on_cleared(self) -> None:
        """Nothing is left to be done."""
