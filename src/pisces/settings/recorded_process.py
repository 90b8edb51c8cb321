"""Processes that a file names: a pid alone may belong to another program by the time that it is read."""

import os
import signal

import msgspec


def process_start(pid: int) -> int:
    """When a process began, in ticks since the system did; 0 when it has ended, or where nobody knows."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])  # One that nobody has reaped yet has ended all the same.
    except (OSError, IndexError, ValueError):
        return 0


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
        """Whether that very process is there; False also where the system does not tell."""
        return self.start_time != 0 and process_start(self.pid) == self.start_time

    def send(self, signum: signal.Signals) -> bool:
        """Send it a signal; False when it is not certain that it is there. Another process never gets it."""
        try:
            handle = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            return self._send_by_pid(signum)
        try:
            if not self.is_running:  # Asked while the handle is held: it stands for the same process from here on.
                return False
            signal.pidfd_send_signal(handle, signum)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def _send_by_pid(self, signum: signal.Signals) -> bool:
        if not self.is_running:
            return False
        try:
            os.kill(self.pid, signum)
        except ProcessLookupError:
            return False
        return True
