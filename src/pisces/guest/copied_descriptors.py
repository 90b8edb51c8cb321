"""What becomes of open descriptors in a copy of the kernel: it shares none that could be noticed, and has its own.

The original looks at what is open just before the fork, with `OpenFiles`; the copy replaces it, with `let_go`. A copy
that is woken is itself forked from the one that sleeps, and does the same once more: it may be woken again.
"""

from __future__ import annotations

from . import forking
from .databases import Databases
from .descriptors import is_high
from .event_descriptors import read_event_descriptor
from .stdlib import _socket as socket
from .stdlib import fcntl, os, select, signal, stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from .event_descriptors import EventDescriptor

_LET_GO_SECONDS = 1.0
_REOPENED_WITH = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK


class OpenFiles:
    """What is open in the original just before the fork, as far as a copy and its original must know."""

    def __init__(self, *, own_set: int = -1) -> None:
        """`own_set` is the epoll set of an event loop that a copy makes anew (13 µs less)."""
        self.positions: dict[int, int] = {}
        """Where regular files stand: the original may go on reading before the copy looks."""
        self.has_channels = False
        """Whether the user has a pipe, a socket or the like: then a copy that has not let go of it can be noticed."""
        self.events: dict[int, EventDescriptor] = {}
        """Those that hold something inside the system."""
        self.unmarked: set[int] = set()
        """Channels of which the system does not let us tell whether they were there before the fork."""
        self.databases = Databases()
        self.lost: list[str] = []
        """What a copy lacks, for the reader; filled by `let_go`."""
        self.pid = os.getpid()
        self._own_set = own_set
        for fd in _descriptors():
            try:
                self._look_at(fd, os.fstat(fd))
            except OSError:
                pass  # The descriptor of the listing itself, or a file that has no position.
        self.databases.find()

    def _look_at(self, fd: int, status: os.stat_result) -> None:
        mode = status.st_mode
        if stat.S_ISREG(mode):
            self.positions[fd] = os.lseek(fd, 0, os.SEEK_CUR)
            self.databases.look_at(fd, status)
        elif not _is_harmless(mode):
            self.has_channels |= fd > 2 and not is_high(fd)
            if not _is_marked(fd) and not _mark(fd):
                self.unmarked.add(fd)
            if not stat.S_IFMT(mode) and fd != self._own_set:
                found = read_event_descriptor(fd)
                if found is not None:
                    self.events[fd] = found


class LettingGo:
    """How the original knows that a copy holds none of its channels any more: the end of a pipe."""

    def __init__(self) -> None:
        self._read, self._write = self.fds = os.pipe()

    def done(self) -> None:
        """In the copy, when it has let go of everything."""
        os.close(self._read)
        os.close(self._write)

    def wait(self) -> None:
        """In the original: a copy on its way takes a few milliseconds, on a busy machine more."""
        os.close(self._write)
        select.select([self._read], [], [], _LET_GO_SECONDS)
        os.close(self._read)


def let_go(files: OpenFiles, *, keep: Collection[int]) -> None:
    """In a copy: share nothing with the original that either could notice.

    A pipe or a socket that a sleeping copy holds open would keep others waiting for its end: each gets, under the same
    number, one end of a connection whose other end is closed. A regular file is opened anew, at its own position. An
    eventfd and the like is made again. What a library has opened since, in an at-fork handler, is the copy's alone.
    """
    _LettingGoOfAll(files, {*keep, forking.mark_fd()}).run()


class _LettingGoOfAll:
    def __init__(self, files: OpenFiles, keep: set[int]) -> None:
        self._files = files
        self._keep = keep
        self._inodes: dict[int, int] = {}
        self._inheritable: dict[int, bool] = {}

    def run(self) -> None:
        channels = []
        for fd in _descriptors():
            try:
                status = os.fstat(fd)
                inheritable = os.get_inheritable(fd)
            except OSError:
                continue  # The descriptor of the listing.
            self._inodes[fd] = status.st_ino
            self._inheritable[fd] = inheritable
            if fd in self._keep or _is_harmless(status.st_mode):
                continue
            if stat.S_ISREG(status.st_mode):
                _open_anew(fd, self._files.positions.get(fd), inheritable)
            elif _is_marked(fd) or fd in self._files.unmarked or self._was_opened_meanwhile(fd, status.st_mode):
                channels.append(fd)
        self._replace(channels)
        self._files.databases.leave_transactions()

    def _was_opened_meanwhile(self, fd: int, mode: int) -> bool:
        """Whether a thread of the original opened it, after the original had looked: then it has it still."""
        here, there = f"/proc/self/fd/{fd}", f"/proc/{self._files.pid}/fd/{fd}"
        try:
            if os.readlink(here) != os.readlink(there):
                return False
            ours, theirs = read_event_descriptor(fd), read_event_descriptor(fd, self._files.pid)
        except OSError:
            return False  # It does not have it; or nobody may look.
        return ours is None or (theirs is not None and ours.identity == theirs.identity != "")

    def _replace(self, channels: list[int]) -> None:
        dead, other = socket.socketpair()
        other.close()
        made: dict[str, int] = {}
        sets = []
        for fd in channels:
            event = self._files.events.get(fd)
            source = made.get(event.identity) if event is not None else None
            if event is not None and source is None:
                try:
                    source = event.make()
                except OSError:
                    event = None  # Then it is dead, as what leads out of the process is.
                else:
                    made[event.identity or f"descriptor {fd}"] = source
            if event is not None and event.watches:
                self._files.lost.append(f"what descriptor {fd} watched for changes of files (inotify)")
            os.dup2(dead.fileno() if source is None else source, fd, inheritable=self._inheritable[fd])
            if event is not None and event.kind == "[eventpoll]":
                sets.append((fd, event))
        for fd in (*made.values(), dead.detach()):
            os.close(fd)
        for fd, event in sets:
            event.register(fd, self._inodes)


def _open_anew(fd: int, position: int | None, inheritable: bool) -> None:
    if position is None:
        return
    try:
        own = os.open(f"/proc/self/fd/{fd}", fcntl.fcntl(fd, fcntl.F_GETFL) & _REOPENED_WITH | os.O_CLOEXEC)
    except OSError:
        return  # It may not be opened any more: then its position stays shared, as with every fork.
    try:
        os.lseek(own, position, os.SEEK_SET)
        os.dup2(own, fd, inheritable=inheritable)
    except OSError:
        pass  # What it tells of has ended, as with files of other processes in `/proc`.
    finally:
        os.close(own)


def _is_harmless(mode: int) -> bool:
    """Whether a copy may share it: folders and devices."""
    return stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _mark(fd: int) -> bool:
    """Mark what is behind a descriptor as older than the fork, for every process that shares it.

    A library may open its own again in an at-fork handler, under the same numbers, and must keep it: gRPC does. Which
    signal would announce input is kept with what is open, not with the number. To set it to what it is by default
    changes nothing, and can be read back. `kcmp`, which compares two processes' descriptors, is often forbidden.
    """
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGIO)
    except OSError:
        return False
    return True


def _is_marked(fd: int) -> bool:
    try:
        return bool(fcntl.fcntl(fd, fcntl.F_GETSIG))
    except OSError:
        return False


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]
