"""Ending what a supervisor that died can no longer end: the processes of its kernels, wherever they have gone.

Each kernel's processes carry its cookie: in the environment they were started with, or, where they only forked, as an
open file of that name. The supervisor finds them the same way while it lives (`guest/processes.py`).
"""

import os
import signal
from collections.abc import Collection
from pathlib import Path

_PROCESSES = Path("/proc")
_VARIABLE = "PI_KERNEL_COOKIE"
_FILE = "/memfd:pisces-"
_ROUNDS = 10


def end_remains(cookies: Collection[str]) -> None:
    """Kill every process that carries one of the cookies; they may fork while we look, so look until none is found.

    Where the system has no /proc, nothing can be found.
    """
    for _ in range(_ROUNDS):
        found = [pid for pid in _running() if _carries_one_of(cookies, _PROCESSES / str(pid))]
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


def _carries_one_of(cookies: Collection[str], process: Path) -> bool:
    try:
        environment = (process / "environ").read_bytes().decode("utf-8", "replace").split("\0")
        files = [_target(process / "fd" / fd) for fd in os.listdir(process / "fd")]
    except OSError:
        return False  # Another user's, or gone while we looked.
    return any(f"{_VARIABLE}={cookie}" in environment or f"{_FILE}{cookie}" in files for cookie in cookies)


def _target(descriptor: Path) -> str:
    try:
        return os.readlink(descriptor).removesuffix(" (deleted)")
    except OSError:
        return ""  # It was closed while we looked.
