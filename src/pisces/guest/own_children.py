"""Child processes of ours that the user's code must not notice: those between a kernel and its copies.

Each lives for a few milliseconds. Waiting for it at once would cost the kernel that time after every cell, so it is
collected later: before the user's code starts a child, and could wait for any of them.
"""

from __future__ import annotations

from contextlib import contextmanager

from .stdlib import os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class OwnChildren:
    """The pids of those that have not been collected yet."""

    def __init__(self) -> None:
        self.pids: list[int] = []

    def collect(self, how: int = os.WNOHANG) -> None:
        """Collect those that have ended; with `how` 0, wait for the others."""
        for pid in self.pids[:]:
            try:
                gone = os.waitpid(pid, how)[0] == pid
            except ChildProcessError:
                gone = True  # A cell did, or it ignores SIGCHLD.
            if gone and pid in self.pids:
                self.pids.remove(pid)

    def wait(self) -> None:
        """Collect all."""
        self.collect(0)

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """A handler of the user's for SIGCHLD does not hear of those that are made in this block.

        It hears of its own that end meanwhile. Without a handler nothing has to be done, and nobody waits.
        """
        handler = signal.getsignal(signal.SIGCHLD)
        if not callable(handler):
            yield
            return
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            yield
            self.wait()
        finally:
            signal.signal(signal.SIGCHLD, handler)
            if _a_child_has_ended():
                os.kill(os.getpid(), signal.SIGCHLD)


def _a_child_has_ended() -> bool:
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False  # There is none.
