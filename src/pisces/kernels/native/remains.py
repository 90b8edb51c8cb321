"""Ending what a supervisor that died can no longer end: the processes of its kernels, wherever they have gone.

Each kernel's processes carry its cookie: in the environment they were started with, as an open file of that name, or
as a resource limit. The supervisor finds them the same way while it lives (`guest/processes.py`, which explains it).
"""

import os
import resource
import signal
import time
from collections.abc import Collection
from pathlib import Path

from pisces.settings.recorded_process import process_start

_PROCESSES = Path("/proc")
_VARIABLE = "PI_KERNEL_COOKIE"
_FILE = "/memfd:pisces-"
_RLIMIT_LOCKS = 10
_ASLEEP = 1 << 60
"""Added to the limit of a sleeping copy."""
_ROUNDS = 10
_TRACKER_SECONDS = 1.0


def end_remains(cookies: Collection[str]) -> None:
    """Kill every process that carries one of the cookies; they may fork while we look, so look until none is found.

    Where the system has no /proc, nothing can be found.
    """
    patience = time.monotonic() + _TRACKER_SECONDS
    for _ in range(_ROUNDS):
        found = [pid for pid in _running() if _carries_one_of(cookies, _PROCESSES / str(pid))]
        while found and time.monotonic() < patience and all(map(_tracks_resources, found)):
            time.sleep(0.002)
            found = [pid for pid in found if process_start(pid)]
        if not found:
            return
        for pid in found:
            if time.monotonic() < patience and _tracks_resources(pid):
                continue
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # It ended in this moment, which is what we want.


def _tracks_resources(pid: int) -> bool:
    """Whether it cleans up for multiprocessing or loky: it removes what all have left in /dev/shm, and then ends."""
    try:
        return b"resource_tracker import main" in (_PROCESSES / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False


def _running() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit() and int(name) != os.getpid()]
    except FileNotFoundError:
        return []


def _carries_one_of(cookies: Collection[str], process: Path) -> bool:
    if _has_limit_of(cookies, int(process.name)):
        return process_start(int(process.name)) != 0  # Else it has ended, but its parent has not reaped it yet.
    try:
        environment = (process / "environ").read_bytes().decode("utf-8", "replace").split("\0")
        files = [_target(process / "fd" / fd) for fd in os.listdir(process / "fd")]
    except OSError:
        return False  # Another user's, or gone while we looked.
    return any(f"{_VARIABLE}={cookie}" in environment or f"{_FILE}{cookie}" in files for cookie in cookies)


def _has_limit_of(cookies: Collection[str], pid: int) -> bool:
    try:
        limit = resource.prlimit(pid, _RLIMIT_LOCKS)[0] % _ASLEEP
    except OSError:
        return False  # Another user's, or gone, or a sandbox refuses to tell: the other signs have to do.
    return any(limit == int(cookie, 16) >> 4 for cookie in cookies)


def _target(descriptor: Path) -> str:
    try:
        return os.readlink(descriptor).removesuffix(" (deleted)")
    except OSError:
        return ""  # It was closed while we looked.
