"""Find what a test left behind: processes, also those that no longer descend from us, and file descriptors."""

import os
import resource
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

COOKIE = "PI_TEST_COOKIE"
"""Passes the filter of a kernel's environment, so whatever a test starts, at any depth, carries it."""

MARK = "pisces-asleep"
"""What a copy of a kernel that sleeps is recognised by."""

GRACE_SECONDS = 15.0


class Leftovers:
    """The processes that come into being between the making of this object and `end`."""

    def __init__(self) -> None:
        self.cookie = uuid.uuid4().hex
        self._before = {child.pid for child in psutil.Process().children(recursive=True)}

    def end(self, *, grace: float = GRACE_SECONDS) -> list[str]:
        """Describe what is still there after a moment of grace, and end it."""
        remaining = self._alive()
        if not remaining:
            return []
        deadline = time.monotonic() + grace
        while remaining and time.monotonic() < deadline:
            # Some go, some leave children that were not known yet, and some turn out to be kept, once they sleep.
            psutil.wait_procs(remaining, timeout=0.05)
            remaining = self._alive()
        described = [describe(process) for process in remaining]
        for process in remaining:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(remaining, timeout=GRACE_SECONDS)
        return described

    def _alive(self) -> list[psutil.Process]:
        below = psutil.Process().children(recursive=True)
        known = {child.pid for child in below}
        children = [child for child in below if child.pid not in self._before and not self._is_kept(child)]
        orphans = [process for process in psutil.process_iter() if process.pid not in known and self._is_ours(process)]
        return children + orphans

    def _is_kept(self, process: psutil.Process) -> bool:
        """Whether it is a checkpoint in a session that tests share: a copy that sleeps below an older supervisor."""
        try:
            folder = f"/proc/{process.pid}/fd"
            asleep = any(MARK in os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder))
            return asleep and process.ppid() in self._before
        except (psutil.Error, OSError):
            return False

    def _is_ours(self, process: psutil.Process) -> bool:
        if process.pid == os.getpid():
            return False
        try:
            return process.environ().get(COOKIE) == self.cookie
        except (psutil.Error, OSError):
            # Someone else's, or gone while we looked; or a host or a supervisor, which only root may look into. Those
            # are noticed by what they started.
            return False


def describe(process: psutil.Process) -> str:
    """One line about a process, or that it went while we looked."""
    try:
        return f"  {process.pid} {process.status()} {' '.join(process.cmdline()) or process.name()}"
    except psutil.Error:
        return f"  {process.pid} ended late"


def open_descriptors() -> dict[int, str]:
    """The open file descriptors of this process, each with what it stands for."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    found = {}
    for name in os.listdir(folder):
        try:
            found[int(name)] = os.readlink(f"{folder}/{name}") if folder.startswith("/proc") else name
        except OSError:
            # The descriptor that listed the folder.
            continue
    return found


@contextmanager
def descriptors_left(count: int) -> Iterator[None]:
    """So many more can be opened in this block."""
    unused = [os.open(os.devnull, os.O_RDONLY) for _ in range(count + 1)]
    for fd in unused:
        os.close(fd)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (unused[-1], hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
