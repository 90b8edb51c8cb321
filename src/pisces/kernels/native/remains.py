"""Ending what a supervisor that died can no longer end: the processes of its kernels, wherever they have gone.

Each kernel's processes carry its cookie: in the environment they were started with, or, where they only forked, as an
open file of that name. The supervisor finds them the same way while it lives (`guest/processes.py`).
"""

import os
import signal
from pathlib import Path

_PROCESSES = Path("/proc")
_VARIABLE = "PI_KERNEL_COOKIE"
_ROUNDS = 10


def end_remains(cookie: str) -> None:
    """Kill every process that carries the cookie; they may fork while we look, so look until none is found.

    Where the system has no /proc, nothing can be found.
    """
    for _ in range(_ROUNDS):
        found = [pid for pid in _running() if _carries(_PROCESSES / str(pid), cookie)]
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # It ended in this moment, which is what we want.


def _running() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit() and int(name) != os.getpid()]
    except FileNotFoundError:
        return []


def _carries(process: Path, cookie: str) -> bool:
    try:
        if f"{_VARIABLE}={cookie}".encode("ascii") in (process / "environ").read_bytes().split(b"\0"):
            return True
        return any(_is_cookie_file(process / "fd" / fd, cookie) for fd in os.listdir(process / "fd"))
    except OSError:
        return False  # Another user's, or gone while we looked.


def _is_cookie_file(descriptor: Path, cookie: str) -> bool:
    try:
        return f"pisces-{cookie}" in os.readlink(descriptor)
    except OSError:
        return False
