"""Processes that a file names: a pid alone may belong to another program by the time that it is read."""

import os
import signal

import msgspec

from pisces.errors import without_descriptor


def process_start(pid: int) -> int:
    """When a process began, in ticks since the system did; 0 when it has ended, or where nobody knows."""
    try:
        return _start_of(pid)
    except OSError:
        return 0


def _start_of(pid: int) -> int:
    """The same. Raises `OSError` when no file can be opened to look."""
    state, began = _state_and_start(pid)
    return 0 if state in "ZX" else began  # One that nobody has reaped yet has ended all the same.


def _state_and_start(pid: int) -> tuple[str, int]:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], int(fields[19])
    except (OSError, IndexError, ValueError) as error:
        if without_descriptor(error) is not None:
            raise
        return "", 0


class RecordedProcess(msgspec.Struct, frozen=True):
    """One process for ever: its pid, and when it began."""

    pid: int
    start_time: int = 0
    """As the system counts; 0 if not known."""

    @classmethod
    def of(cls, pid: int) -> "RecordedProcess":
        """The process that has this pid now."""
        return cls(pid, process_start(pid))

    @property
    def is_running(self) -> bool:
        """Whether that very process is there; False also where the system does not tell.

        Raises `OSError` when no file can be opened to look: to take a process for ended would give up what it has.
        """
        return self.start_time != 0 and _start_of(self.pid) == self.start_time

    @property
    def _is_certain(self) -> bool:
        return self.start_time != 0 and process_start(self.pid) == self.start_time

    @property
    def is_stopped(self) -> bool:
        """Whether a signal such as SIGSTOP has stopped it, so that SIGCONT continues it. A debugger is not meant."""
        try:
            return self.start_time != 0 and _state_and_start(self.pid) == ("T", self.start_time)
        except OSError:  # No file can be opened to look.
            return False

    def continue_if_stopped(self) -> bool:
        """Send SIGCONT if a signal has stopped it, and return whether that was so."""
        return self.is_stopped and self.send(signal.SIGCONT)

    def send(self, signum: signal.Signals) -> bool:
        """Send it a signal; False when it is not certain that it is there. Another process never gets it."""
        try:
            handle = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            return self._send_by_pid(signum)
        try:
            if not self._is_certain:  # Asked while the handle is held: it stands for the same process from here on.
                return False
            signal.pidfd_send_signal(handle, signum)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def _send_by_pid(self, signum: signal.Signals) -> bool:
        if not self._is_certain:
            return False
        try:
            os.kill(self.pid, signum)
        except ProcessLookupError:
            return False
        return True
