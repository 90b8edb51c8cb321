"""Finding and ending every process of a kernel, wherever it has hidden.

A process belongs to a kernel when it descends from it, is in its session, carries its cookie in the environment it
was started with, holds its cookie file, or has its number as a resource limit. The last three find daemons that have
left both the family and the session. A daemon that also has an empty environment and has closed all files still has
the resource limit: every process inherits it from its parent, and keeps it when it runs another program.
"""

from __future__ import annotations

import functools

from .descriptors import moved_up
from .forking import ASLEEP, MARK, RLIMIT_LOCKS
from .stdlib import open, os, resource, signal, time  # noqa: A004  # A cell may replace the builtin.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

COOKIE_VARIABLE = "PI_KERNEL_COOKIE"
_COOKIE_FILE = "pisces-"
_ORPHAN_SECONDS = 5.0
_EXEC_SECONDS = 1.0
_CONTINUE_SECONDS = 0.05
_ENVIRONMENT_FIELD = 47
"""Where in what `_stat` reads the address of the environment stands."""
_MOST_LOOKS = 50
"""So often is a program looked at that has an address for its environment, and none: that is about a millisecond."""
_OOM_SCORE = 500
_MOST_OOM_SCORE = 1000
_usual_oom_scores: list[int] = []
"""The score that this process, or the one it is a copy of, had before it was a kernel."""
_cookies: list[tuple[int, str]] = []
"""The cookie file that this process holds, if it is a kernel, and its name."""


def become_subreaper() -> bool:
    """Have every orphan below us become our child, so that none escapes; False where the system cannot do it."""
    return _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def end_with(supervisor: int, signum: int = signal.SIGKILL) -> None:
    """Have the system send us a signal when the supervisor ends.

    Only once it is our parent: the process between us and it may end a moment later than we begin. If it is never
    going to be our parent, it has ended already.
    """
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while os.getppid() != supervisor and time.monotonic() < deadline:
        time.sleep(0.0002)
    _prctl(1, signum)  # PR_SET_PDEATHSIG
    if os.getppid() != supervisor:
        os._exit(1)


def set_dumpable(wanted: bool) -> None:
    """Whether other processes of the user, such as debuggers and cells, may look into this one.

    A fork inherits it; a program that is run begins dumpable. The system does nothing about it but on Linux.
    """
    _prctl(4, int(wanted))  # PR_SET_DUMPABLE


def continue_with_parent() -> None:
    """Have the system send us SIGCONT when our parent ends: while we are stopped, we could not see it and clean up."""
    _prctl(1, signal.SIGCONT)  # PR_SET_PDEATHSIG


def continue_if_stopped(pid: int) -> None:
    """Send SIGCONT to a process that a signal such as SIGSTOP has stopped, and wait a moment until it runs or sleeps.

    A signal that comes before that may be taken by any of its threads, and would not end a sleep of the main one.
    """
    if _stat(pid)[:1] == ["T"]:
        os.kill(pid, signal.SIGCONT)
        deadline = time.monotonic() + _CONTINUE_SECONDS
        while _stat(pid)[:1] in (["T"], ["R"]) and time.monotonic() < deadline:
            time.sleep(0.001)


def be_expendable() -> None:
    """When memory runs out, a live kernel goes before the checkpoint it can come back from, and before the host."""
    _set_oom_score(min(_usual_oom_score() + _OOM_SCORE, _MOST_OOM_SCORE))


def be_worth_keeping() -> None:
    """The opposite."""
    _set_oom_score(_usual_oom_score())


def _usual_oom_score() -> int:
    """What we began with; below it only the privileged may go."""
    if not _usual_oom_scores:
        try:
            with open("/proc/self/oom_score_adj", encoding="ascii") as file:
                _usual_oom_scores.append(int(file.read()))
        except OSError:
            _usual_oom_scores.append(0)
    return _usual_oom_scores[0]


def _set_oom_score(score: int) -> None:
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write(str(score))
    except OSError:
        pass  # Not on this system: then all are equal, as they were.


def data_size() -> int:
    """The bytes of private memory that this process has asked for so far, used or not; 0 if that is not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0  # Not on this system.


def _prctl(option: int, value: int) -> bool:
    try:
        return bool(c_library().prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


@functools.cache
def c_library() -> Any:
    """Opened once, by the supervisor: every kernel is forked with it, and saves 0.2 ms."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def start_time(pid: int) -> int:
    """When a process started, in clock ticks since boot: with the pid, its identity. 0 when it is gone."""
    fields = _stat(pid)
    return int(fields[19]) if fields else 0


def descendants(pid: int) -> set[int]:
    """Every process below this one, now."""
    found: set[int] = set()
    frontier = [pid]
    while frontier:
        for child in children(frontier.pop()):
            if child not in found:
                found.add(child)
                frontier.append(child)
    return found


def family(kernel: int, cookie: str, orphans: Collection[int]) -> set[int]:
    """The processes of a kernel: those below it, and those of the orphans, and below them, that are its own.

    Without the kernel itself, and without copies of it that sleep.
    """
    members = {pid for pid in descendants(kernel) if not sleeps(pid)}
    for orphan in orphans:
        if orphan == kernel or orphan in members:
            continue
        for pid in (orphan, *descendants(orphan)):
            if _session(pid) == kernel or _has_cookie(pid, cookie):
                # One that is about to end holds no file any more, but may still be the parent of a copy that sleeps.
                members |= {member for member in (pid, *descendants(pid)) if not sleeps(member)}
    return members


def kill(pid: int) -> None:
    """SIGKILL, which also ends what is stopped; a process that is gone already is fine."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # Gone already, or run as another user by a program that may do so (`sudo`): that is not in our power.


def reap(pid: int = -1) -> tuple[int, int]:
    """Pid and status of a child that has ended, as from `os.waitpid`; (0, 0) when none has.

    A child that has made us its debugger (PTRACE_TRACEME) stops at each signal and is reported by `waitpid` too. It has
    not ended: detach from it, so that it gets the signal and continues.
    """
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if not found or not os.WIFSTOPPED(status):
            return found, status
        _detach(found, os.WSTOPSIG(status))


def _detach(pid: int, signum: int) -> None:
    """PTRACE_DETACH. The SIGTRAP by which `execve` stops a process for its debugger would end it, so it is dropped."""
    try:
        import ctypes

        passed_on = ctypes.c_void_p(0 if signum == signal.SIGTRAP else signum)
        c_library().ptrace(ctypes.c_long(17), ctypes.c_int(pid), None, passed_on)
    except (ImportError, OSError, AttributeError):
        pass  # Not on this system: then it stays stopped until it is killed.


def hold_cookie(cookie: str) -> None:
    """Be recognised by `family`, with all that we start, by a file and a limit; in place of those we had before."""
    set_cookie_limit(0, cookie)
    while _cookies:
        fd, file = _cookies.pop()
        if _names(f"/proc/self/fd/{fd}", file):  # A cell may have closed it, and something else has its number now.
            os.close(fd)
    if hasattr(os, "memfd_create"):
        file = _COOKIE_FILE + cookie
        _cookies.append((moved_up(os.memfd_create(file)), file))


def set_cookie_limit(pid: int, cookie: str) -> None:
    """Give a process (0: this one) and all that it starts from now on the resource limit that `family` recognises."""
    try:
        limit, most = _limit_of(cookie), resource.prlimit(pid, RLIMIT_LOCKS)[1]
        # Where user code has lowered what is allowed, the limit must at least not be another kernel's.
        resource.prlimit(pid, RLIMIT_LOCKS, (limit if limit <= most or most < 0 else 0, most))
    except (AttributeError, OSError, ValueError):
        pass  # Not on this system (some sandboxes refuse it): the other signs have to do.


def _limit(pid: int) -> int:
    try:
        return resource.prlimit(pid, RLIMIT_LOCKS)[0]
    except (AttributeError, OSError):
        return -1  # Not on this system, or it has ended, or is another user's.


def _limit_of(cookie: str) -> int:
    return int(cookie, 16) >> 4  # 60 bits, which fit the limit whatever the system counts in.


def name(pid: int) -> str:
    """What a process is called; empty when it is gone, or has ended and only waits to be reaped."""
    fields = _stat(pid)
    if not fields or fields[0] == "Z":
        return ""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def environment(pid: int) -> list[bytes]:
    """What a process was started with, as `NAME=value`; nothing of one that is gone, or is another user's.

    In the moments in which a process becomes another program it seems to have none: one that has a program is looked
    at again, or it would be overlooked.
    """
    text = _environment_now(pid)
    deadline = time.monotonic() + _EXEC_SECONDS
    looks = 0
    while not text and _has_a_program(pid) and looks < _MOST_LOOKS and time.monotonic() < deadline:
        looks += _has_begun(pid)
        text = _environment_now(pid)
    return text.split(b"\0")


def _environment_now(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _has_a_program(pid: int) -> bool:
    try:
        return bool(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False  # It has ended, or is another user's, or a thread of the system itself.


def _has_begun(pid: int) -> bool:
    """Whether the program of a process has an address for its environment, if a moment ago only."""
    return _stat(pid)[_ENVIRONMENT_FIELD:][:1] != ["0"]


def _stat(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def children(pid: int) -> list[int]:
    """The child processes of one, now."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    except FileNotFoundError:
        if os.path.isdir(f"/proc/{pid}"):
            return _children_by_scan(pid)  # A Linux built without these files.
    except OSError:
        pass  # It ended while we looked.
    return found


def _children_by_scan(parent: int) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if (_stat(pid) or ["", "-1"])[1] == str(parent)]


def _has_cookie(pid: int, cookie: str) -> bool:
    if _limit(pid) == _limit_of(cookie):
        return _stat(pid)[:1] != ["Z"]  # Else it has ended, but nobody has reaped it yet.
    if f"{COOKIE_VARIABLE}={cookie}".encode("ascii") in environment(pid):
        return True
    return _holds_file(pid, _COOKIE_FILE + cookie)


def tracks_resources(pid: int) -> bool:
    """Whether it is the process by which multiprocessing, or joblib's loky, cleans up after a program."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"resource_tracker import main" in file.read()
    except OSError:
        return False


def sleeps(pid: int) -> bool:
    """Whether it is a copy of a kernel that was forked to sleep: it is to outlive that kernel."""
    return _limit(pid) >= ASLEEP or _holds_file(pid, MARK)


def _holds_file(pid: int, name: str) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        return any(_names(folder + "/" + fd, name) for fd in os.listdir(folder))
    except OSError:
        return False


def _names(path: str, name: str) -> bool:
    try:
        return name in os.readlink(path)
    except OSError:
        return False
