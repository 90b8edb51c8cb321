"""Forking copies of a kernel that are nobody's children: the one place where the guest itself forks a kernel.

A copy belongs to the supervisor and shares no pipe, socket or file position with the process it was forked from, so
that its sleep cannot be noticed by the code beside it. What user code forks is not our affair; hooks that have to know
the difference ask `is_aside`.
"""

from __future__ import annotations

import warnings

from .descriptors import is_high
from .stdlib import _socket as socket
from .stdlib import fcntl, loaded_modules, os, resource, select, stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, NoReturn

MARK = "pisces-asleep"
"""Name of an open file that tells the supervisor: this process is a copy that sleeps, not one that a kernel started."""
ASLEEP = 1 << 60
"""Added to the resource limit of a copy, to say the same. The files of a process that user code has closed to others
(PR_SET_DUMPABLE) cannot be seen, but its limits can."""
RLIMIT_LOCKS = 10
"""A limit that Linux keeps for each process and has not enforced since 2.4: any number can stand there."""

_LET_GO_SECONDS = 1.0
_REOPENED_WITH = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK


class _Fork:
    """What is known of the fork under way, and of the one that made this process."""

    aside = False
    mark = -1


def is_aside() -> bool:
    """Whether the fork under way makes a copy of the kernel: then at-fork hooks for user code have nothing to do."""
    return _Fork.aside


def expect_forks() -> None:
    """Python 3.12 and some libraries warn of every fork of a process with threads; ours are made with that in mind."""
    for message in ("This process .* is multi-threaded", r"os\.fork\(\) was called"):
        warnings.filterwarnings("ignore", message=message, module=__name__.replace(".", r"\."))


def fork_aside(
    tell: Callable[[int], None] = lambda pid: None, refuse: Callable[[Exception], None] = lambda error: None
) -> int:
    """Fork a copy. 0 in the copy; in the original the pid of a process that ends at once, and is to be reaped later.

    Two forks: the copy is orphaned at once and becomes the supervisor's, so that no `os.wait()` of the user's sees it.
    Waiting for the process between would take four times as long as forking it. In the process between, `tell` hears
    the pid of the copy; or `refuse` why there is none, and its exit status is 1. Raises what the first fork raises:
    `OSError`, or anything if code of the user's has its hands in it.
    """
    mark, limit = _open_mark(), _mark_limit()
    try:
        pid = fork_child()
    except BaseException:
        _take_back(mark, limit)
        raise
    if pid == 0:
        _orphan_ourselves(tell, refuse)
    if pid:
        _take_back(mark, limit)
        return pid
    close_mark()
    _Fork.mark = mark
    return 0


def fork_child() -> int:
    """`os.fork` as no hook of ours heeds it; the child draws the random numbers that we would."""
    random: Any = loaded_modules.get("random")
    state = random.getstate() if hasattr(random, "getstate") else None  # Python gives each forked process a new seed.
    _Fork.aside = True
    try:
        pid = os.fork()
    finally:
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


def _open_mark() -> int:
    return os.memfd_create(MARK) if hasattr(os, "memfd_create") else -1


def _mark_limit() -> int | None:
    """Add to our limit, which the copy inherits; what it was. The copy has it until it goes on as a kernel."""
    try:
        limit, most = resource.prlimit(0, RLIMIT_LOCKS)
        resource.prlimit(0, RLIMIT_LOCKS, (ASLEEP + max(limit, 0) % ASLEEP, most))
    except (AttributeError, OSError, ValueError):
        return None  # Not on this system, or the user's code has lowered what is allowed: the file has to do.
    return limit


def _take_back(mark: int, limit: int | None) -> None:
    """We have forked, and are no copy."""
    _close(mark)
    if limit is not None:
        resource.prlimit(0, RLIMIT_LOCKS, (limit, resource.prlimit(0, RLIMIT_LOCKS)[1]))


def close_mark() -> None:
    """We are not asleep any more, but a kernel like any other."""
    _close(_Fork.mark)
    _Fork.mark = -1


def put_mark() -> None:
    """We are going to sleep, without having been forked as a copy."""
    _Fork.mark = _open_mark()


def _close(fd: int) -> None:
    if fd >= 0:
        os.close(fd)


class OpenFiles:
    """What is open in the original just before the fork, as far as a copy and its original must know."""

    def __init__(self) -> None:
        self.positions: dict[int, int] = {}
        """Where regular files stand: the original may go on reading before the copy looks."""
        self.has_channels = False
        """Whether the user has a pipe, a socket or the like: then a copy that has not let go of it can be noticed."""
        for fd in _descriptors():
            try:
                mode = os.fstat(fd).st_mode
                if stat.S_ISREG(mode):
                    self.positions[fd] = os.lseek(fd, 0, os.SEEK_CUR)
                elif fd > 2 and not is_high(fd):
                    self.has_channels |= not (stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode))
            except OSError:
                pass  # The descriptor of the listing itself, or a file that has no position.


class LettingGo:
    """How the original knows that a copy holds none of its channels any more: the end of a pipe."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def done(self) -> None:
        """In the copy, when it has let go of everything."""
        os.close(self._read)
        os.close(self._write)

    def wait(self) -> None:
        """In the original: a copy on its way takes a few milliseconds, on a busy machine more."""
        os.close(self._write)
        select.select([self._read], [], [], _LET_GO_SECONDS)
        os.close(self._read)


def let_go(positions: dict[int, int], *, keep: Collection[int]) -> list[int]:
    """In a copy: share nothing with the original that either could notice. Returns the descriptors that went dead.

    A pipe or a socket that a sleeping copy holds open would keep others waiting for its end: each gets, under the same
    number, one end of a connection whose other end is closed. A regular file is opened anew, at its own position.
    """
    ours, theirs = socket.socketpair()
    theirs.close()
    dead = []
    keep = {*keep, ours.fileno(), _Fork.mark}
    for fd in _descriptors():
        try:
            mode = os.fstat(fd).st_mode
            inheritable = os.get_inheritable(fd)
        except OSError:
            continue  # The descriptor of the listing.
        if fd in keep or stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            continue
        if stat.S_ISREG(mode):
            _open_anew(fd, positions.get(fd), inheritable)
        else:
            os.dup2(ours.fileno(), fd, inheritable=inheritable)
            dead.append(fd)
    ours.close()
    return dead


def _open_anew(fd: int, position: int | None, inheritable: bool) -> None:
    if position is None:
        return
    try:
        own = os.open(f"/proc/self/fd/{fd}", fcntl.fcntl(fd, fcntl.F_GETFL) & _REOPENED_WITH | os.O_CLOEXEC)
    except OSError:
        return  # It may not be opened any more: then its position stays shared, as with every fork.
    os.lseek(own, position, os.SEEK_SET)
    os.dup2(own, fd, inheritable=inheritable)
    os.close(own)


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]
