"""What the other Python threads of a kernel do, and a fork at a moment at which it harms none of them.

A fork beside a thread that runs native code can ruin the process itself: a library may stop its own threads at a fork
(OpenBLAS does), and never finish what they were at. So a checkpoint waits for a moment at which no Python thread runs
outside of Python. Beside threads that only wait, for a lock or for time to pass, the copy can go on exactly. Beside one
that is in the middle of something, it may hold a lock that nobody releases: then the state has to come back by value.

How the fork comes at the same moment as the look: this thread holds the GIL from the look to the fork, and a Python
thread needs the GIL to begin something new. Three things could make this thread let go of it:

- A call that releases it, as `open` and `os.read` do. All that looks goes through `ctypes.PyDLL`, which does not.
- Another thread that asks for it. It may ask when it has waited for the switch interval in vain, so that is made
  longer than this thread holds the GIL. If it happens all the same, the system has counted a voluntary switch of this
  thread, and it looks again.
- Functions registered to run before a fork. They run first (`PyOS_BeforeFork`), and up to Python 3.11 the look is
  repeated after them. Later ones allow no bytecode there.

And no bytecode runs between the fork and `PyOS_AfterFork_Child`: in the copy, where nobody asks for the GIL any more,
this thread must not wait for somebody to take it.
"""

from __future__ import annotations

import itertools
import operator
import struct
import sys
from collections import defaultdict, deque

from .forking import marked
from .native_threads import Mappings, is_python, is_runtime, library_name
from .stdlib import os, resource, select, threading, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_POLL_SECONDS = 0.0002
_REST_SECONDS = 0.02
"""How long to look for a moment at which all threads only wait; after it, one that harms no thread will do."""
_HELD_SECONDS = 0.02
"""The switch interval while this thread holds on to the GIL: longer than it ever does without somebody who asked. Only
then: a thread that runs Python would keep the GIL from this one for as long."""
_WANTED_SECONDS, _UNASKED_SECONDS, _REQUEST_SECONDS = 3.0, 0.1, 0.03
"""How long to wait for a moment: for somebody, for nobody, and while a request waits for this thread."""
_OLD_SWITCH_SECONDS = 0.006
"""Who began to wait for the GIL under the usual interval (5 ms) has asked for it by then, or begun to wait anew."""
_STACK_BYTES = 4096
_RUNTIME_BYTES = 2 << 20
"""At most so large is `_PyRuntime`, in which a thread that waits for the GIL finds the lock to wait on."""
_WAITS = {
    "x86_64": {0, 7, 23, 35, 43, 45, 47, 61, 128, 202, 230, 232, 247, 270, 271, 281, 288, 441},
    "aarch64": {22, 63, 72, 73, 95, 98, 101, 115, 137, 202, 207, 212, 242, 260, 441},
}
"""System calls that wait, by number: for time, a lock, a descriptor, a child. `read` is among them for pipes."""
_NEEDED_AT_A_FORK = ("openblas", "mkl")
"""Libraries that wait at a fork for what their threads do, or stop them: by a part of the name of the file."""


class OtherThreadsBusy(Exception):
    """There was no moment at which a fork would harm no thread; the text says which thread it was."""


class OtherThreads:
    """The Python threads beside this one, but for one of ours, by the name that it goes by.

    `nameless` are the ids of those that `threading` does not know.
    """

    def __init__(self, ours: str, nameless: Collection[int] = ()) -> None:
        self._ours = ours
        self._nameless = nameless
        self._main = threading.get_ident()
        self.at_work: list[str] = []
        """Those that were in the middle of something when the fork was made, for a reader."""
        self.waited = 0.0
        """So many seconds have been waited for the moment."""

    def __bool__(self) -> bool:
        return bool(self.tasks())

    def tasks(self) -> dict[int, str]:
        """The id and a name of each; holds on to the GIL."""
        found = dict.fromkeys(self._nameless, "without a name")
        for ident, thread in list(threading._active.items()):  # type: ignore[attr-defined]  # Not in typeshed; there in 3.9 to 3.14.
            if ident != self._main and thread.native_id:
                name = name_of(thread)
                if name != self._ours:
                    found[thread.native_id] = repr(name)
        return found

    def fork(self, prepare: Callable[[], object], requests: int | None) -> int:
        """A fork that is `marked`, right after `prepare`; beside other threads at a moment that harms none.

        It waits for that 3 s; 0.1 s if it gets the descriptor where requests arrive, and 0.03 s once there is one.
        Others may have run before `prepare` is called, and it may be called again. Raises `OtherThreadsBusy` when there
        was no such moment, and what `os.fork` raises.
        """
        if not self:
            prepare()
            with marked():
                return os.fork()
        interval = sys.getswitchinterval()
        try:
            look = _Look(self.tasks, -1 if requests is None else requests)
        except (ImportError, OSError, ValueError) as error:
            raise OtherThreadsBusy(f"other threads run, and it cannot be told what they do ({error})") from error
        try:
            return self._fork(look, prepare, _WANTED_SECONDS if requests is None else _UNASKED_SECONDS, interval)
        finally:
            sys.setswitchinterval(interval)
            look.close()

    def _fork(self, look: _Look, prepare: Callable[[], object], seconds: float, interval: float) -> int:
        began = time.perf_counter()
        while True:
            self.waited = _passed(began)
            resting = self.waited < _REST_SECONDS and not look.has_request()
            if self.waited > _most(look, seconds):
                raise OtherThreadsBusy("other threads left it no moment")
            if not resting or look().is_quiet:
                asked = time.perf_counter()
                prepare()  # Which lets go of the GIL for moments, and may wait for it each time: that does not count.
                began += _passed(asked)
                with marked():
                    sys.setswitchinterval(_HELD_SECONDS)
                    try:
                        found = look() if resting else self._hold(look, began, seconds)
                        self.at_work = found.at_work
                        pid = self._fork_now(look) if not resting or found.is_quiet else None
                    finally:
                        sys.setswitchinterval(interval)
                if pid is not None:
                    return pid
            if resting:
                time.sleep(_POLL_SECONDS)  # Lets go of the GIL: the others go on, and may come to rest.

    def _hold(self, look: _Look, began: float, seconds: float) -> _Found:
        """Keep the GIL until no thread can be harmed: the others go on only until they need it."""
        held_since = time.perf_counter()
        while True:
            found = look()
            if not found.obstacle and (not found.asks or _passed(held_since) > _OLD_SWITCH_SECONDS):
                return found
            self.waited = _passed(began)
            if self.waited > _most(look, seconds):
                raise OtherThreadsBusy(found.obstacle or "other threads left it no moment")
            look.wait(_POLL_SECONDS)

    def _fork_now(self, look: _Look) -> int | None:
        """Fork, if it still does no harm after all that others do before a fork; None if it would."""
        sys.audit("os.fork")
        if sys.version_info < (3, 12):
            look.python.PyOS_BeforeFork()
            switches = _switches()
            found = look()
            if found.obstacle or _switches() != switches:
                look.python.PyOS_AfterFork_Parent()
                return None
            self.at_work = found.at_work
            return _fork_in_one(look, look.libc.fork)
        # `PyOS_BeforeFork` takes a lock of the interpreter: bytecode that lost the GIL under it could wait for ever.
        return _fork_in_one(look, look.python.PyOS_BeforeFork, look.libc.fork)


class _Found:
    """What a look found."""

    def __init__(self) -> None:
        self.obstacle = ""
        """The thread that a fork could harm, as a clause; empty for none."""
        self.at_work: list[str] = []
        """The threads that do not only wait."""
        self.asks = False
        """Whether one of them waits for the GIL, and may ask for it."""

    @property
    def is_quiet(self) -> bool:
        """Whether all of them only wait."""
        return not self.obstacle and not self.at_work


class _Look:
    """Says what threads do. Calling it keeps the GIL; making it, and closing it, does not."""

    def __init__(self, tasks: Callable[[], dict[int, str]], requests: int) -> None:
        import ctypes

        self._tasks = tasks
        self._requests = struct.pack("=ihh", requests, select.POLLIN, 0)
        self.libc = ctypes.PyDLL(None, use_errno=True)
        self.python = ctypes.pythonapi
        self.python.PyOS_BeforeFork.restype = None
        self.errno = ctypes.get_errno
        self._runtime = ctypes.addressof(ctypes.c_char.in_dll(self.python, "_PyRuntime"))
        self._mappings = Mappings()
        self._waits: Collection[int] = _WAITS.get(os.uname().machine, ())
        self._buffer = ctypes.create_string_buffer(_STACK_BYTES)
        self._memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        if not self._system_call_of(os.getpid()):
            raise OSError("/proc does not say what they do")
        self._pread = self.libc.pread
        self._pread.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64)
        self._pread.restype = ctypes.c_ssize_t

    def close(self) -> None:
        """Nobody looks any more."""
        os.close(self._memory)

    def wait(self, seconds: float) -> None:
        """Sleep with the GIL."""
        self.libc.usleep(int(seconds * 1e6))

    def has_request(self) -> bool:
        """Whether a request waits for this thread."""
        return bool(self.libc.poll(self._requests, 1, 0) > 0)

    def __call__(self) -> _Found:
        found = _Found()
        for task, name in self._tasks().items():
            self._look_at(task, name, found)
        return found

    def _look_at(self, task: int, name: str, found: _Found) -> None:
        words = self._system_call_of(task)
        if not words:
            return  # It has ended.
        if len(words) < 9:  # "running", or "-1" with two addresses: stopped for a page of memory.
            found.obstacle = found.obstacle or f"thread {name} did not pause, and a fork could harm what it does"
            return
        number, lock, stack, place = int(words[0]), int(words[1], 16), int(words[7], 16), int(words[8], 16)
        if self._runtime <= lock < self._runtime + _RUNTIME_BYTES:
            found.asks = True
            found.at_work.append(name)
            return
        file = self._caller(stack, place)
        if not is_python(file) and "/lib-dynload/" not in file:
            found.at_work.append(name)
            if any(part in file for part in _NEEDED_AT_A_FORK):
                found.obstacle = (
                    found.obstacle or f"thread {name} was inside {library_name(file)}, which a fork could harm"
                )
        elif number not in self._waits:
            found.at_work.append(name)

    def _system_call_of(self, task: int) -> list[bytes]:
        """What `/proc` says of the system call in which a thread is; empty when it has ended."""
        fd = self.libc.open(b"/proc/self/task/%d/syscall" % task, os.O_RDONLY | os.O_CLOEXEC)
        if fd < 0:
            return []
        length = self.libc.read(fd, self._buffer, _STACK_BYTES)
        self.libc.close(fd)
        return self._buffer.raw[:length].split() if length > 0 else []

    def _caller(self, stack: int, place: int) -> str:
        """The file of the innermost code on a stack that is not the C library's or the like; empty if unknown."""
        length = self._pread(self._memory, self._buffer, _STACK_BYTES, stack)
        for address in (place, *struct.unpack_from(f"={max(length, 0) // 8}Q", self._buffer)):
            file = self._mappings.code_at(address)
            if file and not is_runtime(file):
                return file
        return ""


def name_of(thread: threading.Thread) -> str:
    """The name of a thread."""
    try:
        return str(thread.name)
    except BaseException:  # A class of the user's may have a `name` of its own.
        return "without a name"


def _most(look: _Look, seconds: float) -> float:
    return _REQUEST_SECONDS if look.has_request() else seconds


def _passed(since: float) -> float:
    return time.perf_counter() - since


def _switches() -> int:
    """How often this thread has let another one run of its own accord."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def _fork_in_one(look: _Look, *calls: Callable[[], int | None]) -> int:
    """Make these calls, the last of which forks, and then what Python does after it, without bytecode in between."""
    after: dict[int | None, Callable[[], object]]
    after = defaultdict(itertools.repeat(look.python.PyOS_AfterFork_Parent).__next__)
    after[None], after[0] = int, look.python.PyOS_AfterFork_Child
    call = operator.methodcaller("__call__")
    deque(map(call, map(after.__getitem__, map(call, calls))), maxlen=0)
    (number,) = [pid for pid in after if pid] or [0]
    if number == -1:
        raise OSError(look.errno(), os.strerror(look.errno()))
    return number
