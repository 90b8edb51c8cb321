"""Finding the processes of checkpoints and templates, from outside: by the name of a file that each of them holds."""

import os
import re
from collections.abc import Callable

import psutil

from tests.fakes.drive import eventually

MARK = re.compile("/memfd:pisces-asleep")
COOKIE = re.compile("/memfd:pisces-[0-9a-f]{16}")
"""What every process of a kernel has from it."""


def supervisor_of(kernel: int) -> int:
    """The process that a kernel belongs to."""
    return psutil.Process(kernel).ppid()


def checkpoints_below(supervisor: int) -> set[int]:
    """The processes that sleep as checkpoints, of all kernels of this supervisor.

    Not a kernel that holds the file for the moment of a fork: it leads a session. And not a copy of the template, which
    has not been anybody's yet.
    """
    return {pid for pid in _sleeping(supervisor) if _session(pid) not in (pid, -1) and _holds(pid, COOKIE)}


def templates_below(supervisor: int) -> set[int]:
    """The process that new kernels come from, and the copy of it that is to be the next one."""
    return {pid for pid in _sleeping(supervisor) if not _holds(pid, COOKIE)}


async def newly(find: Callable[[], set[int]], known: set[int]) -> int:
    """The one process that is found now and was not known; a copy takes a moment to be the supervisor's."""
    await eventually(lambda: len(find() - known) == 1)
    (pid,) = find() - known
    return pid


def _sleeping(supervisor: int) -> list[int]:
    try:
        children = [child.pid for child in psutil.Process(supervisor).children()]
    except psutil.NoSuchProcess:
        return []
    return [pid for pid in children if _holds(pid, MARK)]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


def _holds(pid: int, file: re.Pattern[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        return any(file.match(os.readlink(f"{folder}/{fd}")) for fd in os.listdir(folder))
    except OSError:
        return False  # It ended while we looked.
