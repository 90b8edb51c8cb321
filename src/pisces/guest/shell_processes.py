"""The processes of one command of the shell: found by descent and by a cookie in their environment, and ended.

The cookie finds those that have left both the family and the session of the command. Where the system has no /proc,
only the process group is left to go by.
"""

from __future__ import annotations

from . import processes
from .stdlib import os, signal

COOKIE = "PI_COMMAND_COOKIE"
_ROUNDS = 10
_left: dict[int, int] = {}
"""What commands have left in the background: pid and start time."""


def new_cookie() -> str:
    """A value for `COOKIE` that no other has; one with something behind it belongs to it."""
    return os.urandom(8).hex()


def interrupt(pid: int) -> None:
    """SIGINT for the group that the command leads."""
    try:
        os.killpg(pid, signal.SIGINT)
    except (ProcessLookupError, PermissionError):
        pass  # All of it has ended.


def remember_left(pid: int, cookie: str, *, writes: bool) -> None:
    """The shell of a command has ended and was reaped: know what goes on of it; `writes` if something does."""
    if not writes:
        try:
            os.killpg(pid, 0)
        except OSError:
            return  # Nothing is in its group any more, and looking further takes milliseconds.
    _left.update((one, processes.start_time(one)) for one in carrying(cookie))


def left() -> list[int]:
    """What commands have left and has not ended since."""
    for pid, began in list(_left.items()):
        if not began or processes.start_time(pid) != began:
            del _left[pid]
    return list(_left)


def end(pid: int, cookie: str, *, ended: bool = False) -> None:
    """Kill the command and all that it started. `ended` if it has been reaped: its pid may be another's by now."""
    below = set() if ended else processes.descendants(pid)
    if not ended:
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            processes.kill(pid)  # It does not lead its group yet, or has left it.
    for child in below:
        processes.kill(child)
    end_carriers(cookie)


def end_carriers(cookie: str) -> None:
    """Kill all that carry this cookie."""
    for _ in range(_ROUNDS):  # They may fork while we look.
        found = carrying(cookie)
        if not found:
            return
        for child in found:
            processes.kill(child)


def carrying(cookie: str) -> list[int]:
    """The processes that were started with this cookie, or one that belongs to it, and have not ended."""
    mark = f"{COOKIE}={cookie}".encode("ascii")
    own = os.getpid()
    return [pid for pid in _all() if pid != own and any(entry.startswith(mark) for entry in processes.environment(pid))]


def _all() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
