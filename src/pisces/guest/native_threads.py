"""Which library started each native thread of this process.

Linux knows a thread by a name, and most libraries leave it at that of the program. But the C library writes into the
descriptor of each thread with which function it began, and links the descriptors to a list. Where in a descriptor
these things are differs from one version of the C library to the next; it is learned from a thread of Python's, of
which the thread id, the address of the descriptor and the library are known. All is read through /proc/self/mem: a
thread that ends meanwhile gives an error there, not a crash.
"""

from __future__ import annotations

import functools
import re
import struct
from contextlib import contextmanager

from . import processes
from .stdlib import _thread, loaded_modules, open, os, time  # noqa: A004  # A cell may replace the builtin.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_DESCRIPTOR_BYTES = 0x900  # Of 0x940 with glibc 2.36; only the part up to the argument of the first function is read.
_LIST_BEFORE_ID = 16  # In every glibc, the two links of the list stand in front of the thread id.
_MOST_THREADS = 10_000
_END_SECONDS = 0.5
_ATTRIBUTES_BYTES = 256  # Of 56 on x86-64, 64 on ARM.
_MORE_STACK_BYTES = 1 << 16
_ANY = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ +(\S.*)$", re.MULTILINE)
_CODE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ..x\S \S+ \S+ \S+ +(\S.*)$", re.MULTILINE)
_WORD = struct.Struct("=Q")
_ID = struct.Struct("=i")
_RUNTIMES = ("/libc.so", "/libc-", "/ld-", "/libpthread", "/libstdc++", "/libc++", "/libgcc_s", "[vdso]", "/ld-musl")
"""Libraries that run code for whoever calls them."""


class Mappings:
    """The files that are mapped into this process, by address; as of when this was made (about 1 ms)."""

    def __init__(self) -> None:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            self._text = file.read()
        self._code = _entries(_CODE, self._text)
        self._all: list[tuple[int, int, str]] = []

    def code_at(self, address: int) -> str:
        """The file whose code is at this address; empty for none."""
        return _at(self._code, address)

    def file_at(self, address: int) -> str:
        """The file that is mapped at this address; empty for none."""
        self._all = self._all or _entries(_ANY, self._text)
        return _at(self._all, address)


def _entries(pattern: re.Pattern[str], text: str) -> list[tuple[int, int, str]]:
    return [(int(first, 16), int(end, 16), path) for first, end, path in pattern.findall(text)]


def leave_lost_stacks() -> None:
    """In a copy, before it starts a thread: have none of them use the stack of a thread that was lost by the fork.

    A library may still join its own, and would be told of another thread that stands there now. So each new thread is
    given a little more than any that is there; the host has told the C library not to free what is left.
    """
    try:
        import ctypes

        library = processes.c_library()
        attributes, size = ctypes.create_string_buffer(_ATTRIBUTES_BYTES), ctypes.c_size_t()
        if library.pthread_getattr_default_np(attributes) == 0:
            library.pthread_attr_getstacksize(attributes, ctypes.byref(size))
            library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(size.value + _MORE_STACK_BYTES))
            library.pthread_setattr_default_np(attributes)
    except (ImportError, AttributeError, OSError):
        pass  # Not with this C library: then joining a lost thread may fail.


def is_runtime(path: str) -> bool:
    """Whether it is the C library or the like, which stands between a thread and the library that it works for."""
    name = path[path.rfind("/") :]
    return name.startswith(_RUNTIMES)


def is_python(path: str) -> bool:
    """Whether it is the interpreter: a thread that began there was started by code in Python."""
    return path == _python_file()


@functools.lru_cache(maxsize=1)
def _python_file() -> str:
    try:
        import ctypes
    except ImportError:
        return ""  # It was built without. Then all that Python started is taken for a library's.
    code = ctypes.cast(ctypes.pythonapi.PyOS_BeforeFork, ctypes.c_void_p).value
    return Mappings().code_at(code or 0)


def library_name(path: str) -> str:
    """What a reader calls the library in this file: the package that brought it, else the name of the file."""
    return own_path(path).partition("/")[0].partition(".")[0].lstrip("_") or "a library"


def own_path(path: str) -> str:
    """The part of a path that is the library's own: below the folder that packages are installed to, or the name."""
    _, found, inside = path.rpartition("-packages/")
    return inside if found else path.rpartition("/")[2]


class NativeThreads:
    """Remembers what it found of each thread: a thread does not change the function it began with."""

    def __init__(self) -> None:
        self._pid = 0
        self._paths: dict[int, str] = {}
        self._layout: tuple[int, int] | None = None
        self._mappings: tuple[int, Mappings] | None = None

    def paths(self, tasks: Collection[int]) -> dict[int, str]:
        """The file of the library that started each of these threads; empty where that cannot be told.

        For threads of Python that is the interpreter, or its library.
        """
        if self._pid != os.getpid():
            self._pid, self._paths = os.getpid(), {}
        self._paths = {task: self._paths[task] for task in tasks if task in self._paths}
        if any(task not in self._paths for task in tasks):
            try:
                self._find(tasks)
            except (OSError, RuntimeError):
                pass  # A thread has ended while it was looked at, or none can be started: found the next time.
        return {task: self._paths.get(task, "") for task in tasks}

    def _find(self, tasks: Collection[int]) -> None:
        mappings = self._mappings_now()
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            with _a_thread() as (descriptor, task):
                self._layout = self._layout or _layout(memory, mappings, descriptor, task)
                if self._layout is not None:
                    found = _walk(memory, mappings, descriptor, *self._layout)
                    self._paths.update((task, path) for task, path in found if task in tasks)
        finally:
            os.close(memory)

    def _mappings_now(self) -> Mappings:
        """Read again when there are more modules than the last time: a library comes with the module that wants it."""
        modules = len(loaded_modules)
        if self._mappings is None or self._mappings[0] != modules:
            self._mappings = modules, Mappings()
        return self._mappings[1]


@contextmanager
def _a_thread() -> Iterator[tuple[int, int]]:
    """The address of the descriptor and the id of a thread of Python's that waits for the end of this block.

    It is gone afterwards: nobody is to take it for a thread of the user's.
    """
    ready, done = _thread.allocate_lock(), _thread.allocate_lock()
    ids: list[int] = []

    def wait() -> None:
        ids.extend((_thread.get_ident(), _thread.get_native_id()))
        ready.release()
        done.acquire()

    ready.acquire()
    done.acquire()
    _thread.start_new_thread(wait, ())
    ready.acquire()
    try:
        yield ids[0], ids[1]
    finally:
        done.release()
        late = time.monotonic() + _END_SECONDS
        while os.path.exists(f"/proc/self/task/{ids[1]}") and time.monotonic() < late:
            time.sleep(0.00005)


def _layout(memory: int, mappings: Mappings, descriptor: int, task: int) -> tuple[int, int] | None:
    """Where in a descriptor the id of the thread stands, and the function it began with."""
    content = os.pread(memory, _DESCRIPTOR_BYTES, descriptor)
    of_id = next((at for at in range(0, len(content) - 4, 4) if _ID.unpack_from(content, at)[0] == task), None)
    if of_id is None:
        return None
    for at in range(of_id - of_id % 8 + 8, len(content) - 16, 8):
        path = mappings.code_at(_WORD.unpack_from(content, at)[0])
        if path and not is_runtime(path):
            return of_id, at
    return None


def _walk(memory: int, mappings: Mappings, first: int, of_id: int, of_start: int) -> list[tuple[int, str]]:
    """The id and the library of every thread on the list that this descriptor is on."""
    found = []
    link = of_id - _LIST_BEFORE_ID
    descriptor = first
    for _ in range(_MOST_THREADS):
        content = os.pread(memory, of_start + 16, descriptor)
        if len(content) == of_start + 16:
            task = _ID.unpack_from(content, of_id)[0]
            start, argument = struct.unpack_from("=QQ", content, of_start)
            found.append((task, _library(memory, mappings, start, argument)))
        descriptor = _WORD.unpack(os.pread(memory, 8, descriptor + link))[0] - link
        if descriptor == first:
            break
    return found


def _library(memory: int, mappings: Mappings, start: int, argument: int) -> str:
    path = mappings.code_at(start)
    if not is_runtime(path):
        return path
    try:
        # A thread of C++ begins in its runtime; what it is given points to a table of functions of the library's.
        return mappings.file_at(_WORD.unpack(os.pread(memory, 8, argument))[0]) or path
    except (OSError, OverflowError, struct.error):
        return path


def _at(entries: list[tuple[int, int, str]], address: int) -> str:
    low, high = 0, len(entries)
    while low < high:
        middle = (low + high) // 2
        if entries[middle][1] <= address:
            low = middle + 1
        else:
            high = middle
    return entries[low][2] if low < len(entries) and entries[low][0] <= address else ""
