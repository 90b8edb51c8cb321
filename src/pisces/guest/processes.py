"""Finding and ending every process of a kernel, wherever it has hidden.

A process belongs to a kernel when it descends from it, is in its session, carries its cookie in the environment it
was started with, or holds its cookie file. The last two find daemons that have left both the family and the session:
those that ran another program have the first, those that only forked still have the second.
"""

from __future__ import annotations

import os
import signal

COOKIE_VARIABLE = "PI_KERNEL_COOKIE"


def become_subreaper() -> bool:
    """Have every orphan below us become our child, so that none escapes; False where the system cannot do it."""
    return _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def die_with_parent(parent: int) -> None:
    """Have the system send us SIGKILL when our parent ends; it may have ended before we asked."""
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _prctl(option: int, value: int) -> bool:
    try:
        import ctypes

        return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def start_time(pid: int) -> int:
    """When a process started, in clock ticks since boot: with the pid, its identity. 0 when it is gone."""
    fields = _stat(pid)
    return int(fields[19]) if fields else 0


def descendants(pid: int) -> set[int]:
    """Every process below this one, now."""
    found: set[int] = set()
    frontier = [pid]
    while frontier:
        for child in _children(frontier.pop()):
            if child not in found:
                found.add(child)
                frontier.append(child)
    return found


def family(kernel: int, cookie: str, below: int) -> set[int]:
    """The processes of a kernel among the descendants of `below`, without the kernel itself."""
    members = descendants(kernel)
    for pid in descendants(below) - members - {kernel}:
        if _session(pid) == kernel or _has_cookie(pid, cookie):
            members.add(pid)
            members |= descendants(pid)
    return members


def kill(pid: int) -> None:
    """SIGKILL, which also ends what is stopped; a process that is gone already is fine."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def cookie_file(cookie: str) -> int:
    """A descriptor that every forked process inherits and `_has_cookie` recognises; -1 where there is no memfd."""
    if not hasattr(os, "memfd_create"):
        return -1
    return os.memfd_create("pisces-" + cookie)


def _stat(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                children += map(int, file.read().split())
    except FileNotFoundError:
        if os.path.isdir(f"/proc/{pid}"):
            return _children_by_scan(pid)  # A Linux built without these files.
    except OSError:
        pass  # It ended while we looked.
    return children


def _children_by_scan(parent: int) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if (_stat(pid) or ["", "-1"])[1] == str(parent)]


def _has_cookie(pid: int, cookie: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            if f"{COOKIE_VARIABLE}={cookie}".encode("ascii") in file.read().split(b"\0"):
                return True
        folder = f"/proc/{pid}/fd"
        return any(_names_cookie(folder + "/" + fd, cookie) for fd in os.listdir(folder))
    except OSError:
        return False


def _names_cookie(path: str, cookie: str) -> bool:
    try:
        return ("pisces-" + cookie) in os.readlink(path)
    except OSError:
        return False
