"""Commands of the shell: run to their end, with nobody to ask, and ended whole when they are to stop.

A command has a session of its own, without a terminal, and the null device as standard input. What it writes goes to
the cell while it runs, to whatever stands for `sys.stdout` and `sys.stderr` there. What it leaves in the background
lives on until the kernel ends; its output is read from then on, so that it is not held up, and dropped.
"""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import sys
import time

from .. import shell_processes
from ..shell_snapshot import ShellCommand, shell_command
from .company import Member
from .shell_output import KeptOutput, drain
from .status import cut, tell
from .undisturbed import undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Union

    AnyPath = Union[str, os.PathLike[str]]

_GRACE = 2.0
_LINGER = 0.1
"""Seconds for what the shell did not wait for, such as `>(…)`, to write its last; then it is in the background."""
_TICK = 0.01
_LOOK = 0.05
"""So often a command that runs in another thread than the main one looks whether it is to stop."""
_NOT_RUN = 127
_READ_BYTES = 1 << 16
_SHOWN_COMMAND = 80
_SHOWN_OUTPUT = 500
_SHOWN_END = 2000


_kernel = shell_processes.new_cookie()
"""All commands of this kernel belong to it."""


class ShellResult:
    """How a command ended. It is true if that was well."""

    def __init__(self, args: str | list[str], stdout: str, stderr: str, returncode: int) -> None:
        self.args = args
        self.stdout = stdout
        self.stderr = stderr
        self.returncode = returncode
        """As a shell tells it: 128 and the number of the signal, if one has ended the command."""

    @property
    def code(self) -> int:
        """The same as `returncode`."""
        return self.returncode

    def check(self) -> ShellResult:
        """This result, if the command went well. Raises `CommandFailed` otherwise."""
        if self.returncode:
            raise CommandFailed(self)
        return self

    def __bool__(self) -> bool:
        return self.returncode == 0

    def __repr__(self) -> str:
        return f"exit code {self.returncode}" if self.returncode else ""


class CommandFailed(subprocess.CalledProcessError):
    """A command ended with another code than 0, and that was not to be."""

    __module__ = "builtins"  # Its full name in a traceback would say nothing to the reader.

    def __init__(self, result: ShellResult) -> None:
        super().__init__(result.returncode, result.args, result.stdout, result.stderr)
        self._result = result

    def __reduce__(self) -> Any:
        return _failed, (self._result,)  # Pickle looks for a class where it says that it is from.

    def __str__(self) -> str:
        said = (self.stderr.strip() or self.stdout.strip())[-_SHOWN_END:]
        return f"`{_shown(self.cmd)}` ended with exit code {self.returncode}" + (f":\n{said}" if said else "")


class CommandTimedOut(TimeoutError):
    """A command was ended because its time had run out; `stdout` and `stderr` are what it had written."""

    __module__ = "builtins"  # As above.

    def __init__(self, seconds: float, result: ShellResult) -> None:
        super().__init__(f"Command timed out after {seconds:g} seconds: {_shown(result.args)}")
        self.stdout = result.stdout
        self.stderr = result.stderr
        self._call = (seconds, result)

    def __reduce__(self) -> Any:
        return _timed_out, self._call  # As above.


def _failed(result: ShellResult) -> CommandFailed:
    return CommandFailed(result)


def _timed_out(seconds: float, result: ShellResult) -> CommandTimedOut:
    return CommandTimedOut(seconds, result)


def run(cmd: str | Sequence[AnyPath], *, cwd: AnyPath | None, timeout: float | None) -> ShellResult:
    """Run a command to its end. Raises `CommandTimedOut`, and what `subprocess` raises when it cannot be started."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be a number of seconds above 0, got {timeout!r}")
    given = cmd if isinstance(cmd, str) else [os.fsdecode(part) for part in cmd]
    if not given:
        raise ValueError(f"there is no command to run in {cmd!r}")
    tell(cmd=_shown(given))
    command = shell_command(given, os.environ) if isinstance(given, str) else ShellCommand(given, dict(os.environ))
    if command.warning:
        tell(snapshot=command.warning)
    running = _Running(command, cwd)
    in_time = False
    try:
        with undisturbed():  # Half a start would leave a process that nobody knows, and nobody reaps.
            running.start()
        with Member(running.ask_to_stop) as member:
            running.is_watched = member.company is None
            in_time = running.wait(None if timeout is None else time.monotonic() + timeout)
        if running.asked:
            raise KeyboardInterrupt  # As in the main thread, which has one already and waits for us.
    finally:
        code = running.finish(stop=not in_time)
        tell(code=code, output=running.beginning)
    result = ShellResult(given, running.streams[1].text(), running.streams[2].text(), code)
    if timeout is not None and not in_time:
        raise CommandTimedOut(timeout, result)
    return result


class _Running:
    """A command from its start to its end."""

    def __init__(self, command: ShellCommand, cwd: AnyPath | None) -> None:
        self.streams = {1: KeptOutput(), 2: KeptOutput()}
        self.beginning = ""
        """The first of what it wrote, as it came."""
        self.asked = False
        """Whether it is to stop because whoever waits for it was interrupted, in another thread."""
        self.is_watched = True
        """Whether an interrupt comes to the thread that waits here; else `asked` has to be looked at."""
        self._command = command
        self._cwd = cwd
        self._cookie = f"{_kernel}.{shell_processes.new_cookie()}"
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._pipes: dict[int, int] = {}
        """By the descriptor that is read, which one of the command's it belongs to."""
        self._poll = select.poll()

    def start(self) -> None:
        command = self._command
        script = () if command.script < 0 else (command.script,)
        try:
            process = self._process = subprocess.Popen(
                command.args,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._cwd,
                env={**command.env, shell_processes.COOKIE: self._cookie},
                start_new_session=True,
                pass_fds=script,
            )
        finally:
            for fd in script:
                os.close(fd)
        assert process.stdout is not None and process.stderr is not None
        for number, pipe in ((1, process.stdout), (2, process.stderr)):
            fd = os.dup(pipe.fileno())
            pipe.close()
            self._pipes[fd] = number
            self._poll.register(fd, select.POLLIN)
        try:
            self._pidfd = os.pidfd_open(process.pid)
            self._poll.register(self._pidfd, select.POLLIN)
        except (AttributeError, OSError):
            pass  # Not on this system: then it is asked again and again.

    def wait(self, deadline: float | None) -> bool:
        """Pass on what it writes until it has ended; False if it has not by then."""
        while not self._has_ended():
            left = None if deadline is None else deadline - time.monotonic()
            if self.asked or (left is not None and left <= 0):
                return False
            often = _TICK if self._pidfd < 0 else _LOOK if not self.is_watched else None
            if often is not None:
                left = often if left is None else min(left, often)
            self._pass_on(left)
        return True

    def ask_to_stop(self) -> None:
        """From another thread: have the one that waits stop it."""
        self.asked = True

    def _stop(self, pid: int) -> None:
        """Interrupt it, and end all of it if that was not enough."""
        self.asked = False
        try:
            shell_processes.interrupt(pid)
            self.wait(time.monotonic() + _GRACE)
        finally:
            shell_processes.end(pid, self._cookie)

    def finish(self, *, stop: bool) -> int:
        """Take the last of its output, and let go of it; with `stop`, end all of it first.

        Its exit code, or that of a command that cannot be run. An interrupt that comes meanwhile is raised afterwards:
        nothing else would end what is left.
        """
        with undisturbed():
            return self._finish(stop=stop)

    def _finish(self, *, stop: bool) -> int:
        if self._process is None:
            shell_processes.end_carriers(self._cookie)
            return _NOT_RUN
        if stop:
            self._stop(self._process.pid)
        deadline = time.monotonic() + _LINGER
        if self._pidfd >= 0:
            self._poll.unregister(self._pidfd)
            os.close(self._pidfd)
        try:
            while self._pipes and (left := deadline - time.monotonic()) > 0:
                self._pass_on(left)
        finally:
            drain(list(self._pipes))
        code = self._process.wait()
        shell_processes.remember_left(self._process.pid, self._cookie, writes=bool(self._pipes))
        return code if code >= 0 else 128 - code

    def _has_ended(self) -> bool:
        """Whether it has, without reaping it: as long as it is not reaped, its number stays that of its group."""
        assert self._process is not None
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True  # Somebody else reaped it.

    def _pass_on(self, seconds: float | None) -> None:
        for fd, _ in self._poll.poll(None if seconds is None else max(1, round(seconds * 1000))):
            if fd in self._pipes:
                self._take(fd, os.read(fd, _READ_BYTES))

    def _take(self, fd: int, data: bytes) -> None:
        number = self._pipes[fd]
        if not data:
            self._poll.unregister(fd)
            os.close(fd)
            del self._pipes[fd]
        text = self.streams[number].take(data)
        if text:
            self.beginning = cut(self.beginning + text[:_SHOWN_OUTPUT], _SHOWN_OUTPUT)
            (sys.stdout if number == 1 else sys.stderr).write(text)


def _end_all(kernel: int) -> None:
    """A kernel that we started is ended with all that it has left; one of somebody else's does that here."""
    if os.getpid() == kernel:
        shell_processes.end_carriers(_kernel)


atexit.register(_end_all, os.getpid())


def _shown(command: str | Sequence[str]) -> str:
    if isinstance(command, str):
        return cut(command, _SHOWN_COMMAND)
    import shlex

    return cut(" ".join(map(shlex.quote, command)), _SHOWN_COMMAND)
