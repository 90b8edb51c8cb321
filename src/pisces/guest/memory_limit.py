"""How much memory a kernel may ask for: what gives a cell a MemoryError before it takes the machine's.

The limit counts from what a kernel has before its first cell, which its copies remember. It is in force while a cell
runs, and what a cell starts inherits it. Our own code, which tells how the cell ended and keeps the state, gets some
more, or a cell that has used everything up would take the kernel with it. A copy that sleeps has no limit. What
processes use together is bounded by `memory_watch`.
"""

from __future__ import annotations

from . import processes
from .stdlib import resource

_OURS = 32 << 20
"""For tracebacks and checkpoints: IPython needs some MiB to show an error, a new thread 8 for its stack."""
_LEAST = 4 << 20
"""For each cell, also when nothing is left: enough for the `del` that mends it."""


class _Limit:
    """Of this process, and of the one it is a copy of."""

    mb = 0
    base = 0
    usual = resource.RLIM_INFINITY
    """What the system allowed before."""
    eased = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    """What `ease` sets: ready, for when it is called there may be no memory left to find it out."""


def set_limit(mb: int) -> None:
    """Allow so many MiB (0 for any number) on top of what a fresh kernel has: called before the first cell runs."""
    if not _Limit.base:
        _Limit.base = processes.data_size()
        _Limit.usual = resource.getrlimit(resource.RLIMIT_DATA)[0]
    lift()
    _Limit.mb = mb
    enforce()
    ease()


def enforce() -> None:
    """A cell begins."""
    if _Limit.mb:
        size = max(_Limit.base + (_Limit.mb << 20), processes.data_size() + _LEAST)
        _Limit.eased = _within_bounds(size + _OURS)
        resource.setrlimit(resource.RLIMIT_DATA, _within_bounds(size))


def ease() -> None:
    """A cell has ended, or has failed, and the rest is ours. Needs no memory."""
    if _Limit.mb:
        try:
            resource.setrlimit(resource.RLIMIT_DATA, _Limit.eased)
        except ValueError:
            pass  # The cell has lowered the hard limit: what it wanted, it has.


def lift() -> None:
    """Have no limit, as a copy that sleeps."""
    if _Limit.mb:
        resource.setrlimit(resource.RLIMIT_DATA, _within_bounds(resource.RLIM_INFINITY))


def bound_extra() -> None:
    """In a child of a sleeping copy that runs code of the user's: allow as much again as it has."""
    if _Limit.mb:
        resource.setrlimit(resource.RLIMIT_DATA, _within_bounds(processes.data_size() + (_Limit.mb << 20)))


def remark(ename: str) -> list[str]:
    """What the reader of this error should know of the limit, as lines."""
    if not _Limit.mb or not ename.endswith("MemoryError"):
        return []
    return [f"python.memoryLimitMb allows this kernel and all it starts {_Limit.mb} MiB."]


def _within_bounds(size: int) -> tuple[int, int]:
    """Soft and hard limit, the soft one no higher than the system allows."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    finite = [bound for bound in (size, _Limit.usual, hard) if bound != resource.RLIM_INFINITY]
    return min(finite, default=resource.RLIM_INFINITY), hard
