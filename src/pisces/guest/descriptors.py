"""Where the descriptors of a kernel's own are: at high numbers, out of the way of code that counts them from 3.

A cell may close a range of them, as programs do that become daemons. What we opened would be gone; and what a dead
object of ours still takes for its own would later be closed under whoever has that number by then.
"""

from __future__ import annotations

from contextlib import contextmanager

from .stdlib import fcntl, os, resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HIGH = 256


def private_duplicate(fd: int) -> int:
    """A copy of a descriptor at a high number, not inherited by programs that the user starts."""
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _first())
    except OSError:  # All high ones are taken: any will do.
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def is_high(fd: int) -> bool:
    """Whether it is among the numbers where ours are."""
    return fd >= _first()


def moved_up(fd: int) -> int:
    """The descriptor, at a high number in place of its own where there is one."""
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _first())
    except OSError:
        return fd
    os.close(fd)
    return high


@contextmanager
def opened_high() -> Iterator[None]:
    """What is opened in this block, by libraries too, gets high numbers where there are any (0.15 ms)."""
    taken: list[int] = []
    try:
        try:
            _take_all_low(taken)
        except OSError:
            _close(taken)
        yield
    finally:
        _close(taken)


def _first() -> int:
    """The lowest of the high numbers: half of those that are allowed (`ulimit -n`) are high, where they are few."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _HIGH if soft == resource.RLIM_INFINITY else min(_HIGH, soft // 2)


def _take_all_low(taken: list[int]) -> None:
    first = _first()
    taken.append(os.open(os.devnull, os.O_RDONLY))
    while taken[-1] < first:
        taken.append(os.dup(taken[0]))
    os.close(taken.pop())


def _close(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())
