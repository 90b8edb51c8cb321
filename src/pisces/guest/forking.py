"""Forking copies of a kernel that are nobody's children: the one place where the guest itself forks a kernel.

A copy belongs to the supervisor and shares no pipe, socket or file position with the process it was forked from, so
that its sleep cannot be noticed by the code beside it. What user code forks is not our affair; hooks that have to know
the difference ask `is_aside`.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager

from .stdlib import loaded_modules, os, resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

MARK = "pisces-asleep"
"""Name of an open file that tells the supervisor: this process is a copy that sleeps, not one that a kernel started."""
ASLEEP = 1 << 60
"""Added to the resource limit of a copy, to say the same. The files of a process that user code has closed to others
(PR_SET_DUMPABLE) cannot be seen, but its limits can."""
RLIMIT_LOCKS = 10
"""A limit that Linux keeps for each process and has not enforced since 2.4: any number can stand there."""


class _Fork:
    """What is known of the fork under way, and of the one that made this process."""

    aside = False
    mark = -1
    forget_output: Callable[[], None] = staticmethod(lambda: None)
    """Drops what was printed by functions that user code has registered for forks."""


def is_aside() -> bool:
    """Whether the fork under way makes a copy of the kernel: then at-fork hooks for user code have nothing to do."""
    return _Fork.aside


def expect_forks() -> None:
    """Python 3.12 and some libraries warn of every fork of a process with threads; ours are made with that in mind."""
    for message in ("This process .* is multi-threaded", r"os\.fork\(\) was called"):
        warnings.filterwarnings("ignore", message=message, module=__name__.replace(".", r"\."))


def expect_output(forget: Callable[[], None]) -> None:
    """Have this called when a fork of ours has been made, while `is_aside` is still true, in both processes."""
    _Fork.forget_output = staticmethod(forget)


def fork_aside(
    tell: Callable[[int], None] = lambda pid: None,
    refuse: Callable[[Exception], None] = lambda error: None,
    fork: Callable[[], int] | None = None,
) -> int:
    """Fork a copy. 0 in the copy; in the original the pid of a process that ends at once, and is to be reaped later.

    Two forks: the copy is orphaned at once and becomes the supervisor's, so that no `os.wait()` of the user's sees it.
    Waiting for the process between would take four times as long as forking it. In the process between, `tell` hears
    the pid of the copy; or `refuse` why there is none, and its exit status is 1. `fork` makes the first of
    the two, in a block that is `marked`. Raises what it raises: `OSError`, or anything if code of the user's has its
    hands in it.
    """
    pid = fork_child(fork or _fork)
    if pid == 0:
        _orphan_ourselves(tell, refuse)
    return pid


def _fork() -> int:
    with marked():
        return os.fork()


def fork_child(fork: Callable[[], int] | None = None) -> int:
    """`os.fork` as no hook of ours heeds it; the child draws the random numbers that we would."""
    random: Any = loaded_modules.get("random")
    state = random.getstate() if hasattr(random, "getstate") else None  # Python gives each forked process a new seed.
    _Fork.aside = True
    try:
        pid = (fork or os.fork)()
    finally:
        _Fork.forget_output()
        _Fork.aside = False
    if pid == 0 and state is not None:
        random.setstate(state)
    return pid


def _orphan_ourselves(tell: Callable[[int], None], refuse: Callable[[Exception], None]) -> None:
    """In the process between: fork once more and end. Not `setpgid`, which would forbid the copy its own session."""
    try:
        os.setsid()
        copy = fork_child()
    except Exception as error:
        _end_between(refuse, error, code=1)
    if copy:
        _end_between(tell, copy, code=0)


def _end_between(say: Callable[[Any], None], what: object, *, code: int) -> NoReturn:
    try:
        say(what)
    finally:
        os._exit(code)


@contextmanager
def marked() -> Iterator[None]:
    """What is forked in this block is known to sleep from its beginning, until it goes on as a kernel.

    For moments only: a process that another thread starts meanwhile would be taken for such a copy.
    """
    pid, mark, limit = os.getpid(), _open_mark(), _mark_limit()
    try:
        yield
    finally:
        if os.getpid() != pid:
            close_mark()
            _Fork.mark = mark
        else:
            _take_back(mark, limit)


def _open_mark() -> int:
    return os.memfd_create(MARK) if hasattr(os, "memfd_create") else -1


def _mark_limit() -> int | None:
    """Add to our limit, which the copy inherits; what it was."""
    try:
        limit, most = resource.prlimit(0, RLIMIT_LOCKS)
        resource.prlimit(0, RLIMIT_LOCKS, (ASLEEP + max(limit, 0) % ASLEEP, most))
    except (AttributeError, OSError, ValueError):
        return None  # Not on this system, or the user's code has lowered what is allowed: the file has to do.
    return limit


def _take_back(mark: int, limit: int | None) -> None:
    """We are no copy."""
    _close(mark)
    if limit is not None:
        resource.prlimit(0, RLIMIT_LOCKS, (limit, resource.prlimit(0, RLIMIT_LOCKS)[1]))


def close_mark() -> None:
    """We are not asleep any more, but a kernel like any other."""
    _close(_Fork.mark)
    _Fork.mark = -1


def mark_fd() -> int:
    """The descriptor that shows that this process sleeps, -1 if it has none."""
    return _Fork.mark


def put_mark() -> None:
    """We are going to sleep, without having been forked as a copy."""
    _Fork.mark = _open_mark()


def _close(fd: int) -> None:
    if fd >= 0:
        os.close(fd)
