"""What the user's variables lost by a fork: found, named, and made good where that is safe.

For a copy that is woken. `fork_safety.lost_threads` names the threads themselves.
"""

from __future__ import annotations

from functools import partial

from . import fork_revivals as revivals
from .fork_search import classes_of, search, variables_of
from .stdlib import loaded_modules, os, stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


_LIBRARIES = ("site-packages", "dist-packages", os.path.dirname(os.__file__))
"""Parts of the paths of modules that are not the user's own."""
_OURS = (__package__ or "").partition(".")[0]


def lost_objects(namespace: dict[str, Any], *, tasks_are_lost: bool = False) -> list[str]:
    """What the variables, and those of the user's modules, hold that is not back, each as `name (what: where)`.

    In order of name. What can be made good is: thread pools wherever they are, other objects where they are found.
    """
    pools = revivals.revive_thread_pools()
    revivals.forget_shared_objects()
    judge = _Judge({number: what for number, (_, what) in pools.items()}, tasks_are_lost)
    variables = [(name, value) for name, value in list(namespace.items()) if type(name) is str and name[:1] != "_"]
    found = search([*variables, *_variables_of_modules()], judge)
    if revivals.locks_are_lost():
        found.update((name, what) for name, what in _locks_of_modules(judge) if name not in found)
    unowned = [*judge.restart()]
    unowned += [f"thread pool {name!r} ({what})" for number, (name, what) in pools.items() if number not in judge.named]
    return [*sorted(f"{name} ({what})" for name, what in found.items()), *sorted(unowned)]


def _variables_of_modules() -> Iterator[tuple[str, Any]]:
    """Those that the user's own modules hold; of libraries they are too many."""
    are_the_users: dict[str, bool | None] = {}
    for name in filter(_is_looked_at, list(loaded_modules)):
        package = name.partition(".")[0]
        if package not in are_the_users:
            are_the_users[package] = _is_the_users(package)
        is_the_users = are_the_users[package]
        if is_the_users or (is_the_users is None and _is_the_users(name)):
            variables = list(variables_of(loaded_modules[name]).items())
            yield from ((f"{name}.{key}", value) for key, value in variables if type(key) is str)


def _is_the_users(module: str) -> bool | None:
    """Whether a module is neither of the standard library nor installed; None for one that has no file."""
    file = variables_of(loaded_modules.get(module)).get("__file__")
    return not any(part in file for part in _LIBRARIES) if type(file) is str else None


def _locks_of_modules(judge: _Judge) -> Iterator[tuple[str, str]]:
    """Locks at the top of any module: who uses the module would wait for them (10 ms for 2,000 modules)."""
    for name, module in list(loaded_modules.items()):
        if _is_looked_at(name):
            for key, value in list(variables_of(module).items()):
                what = judge(value) if judge.is_lock(type(value)) else ""
                if what:
                    yield f"{name}.{key}", what


def _is_looked_at(module: object) -> bool:
    return type(module) is str and module.partition(".")[0] not in {_OURS, "__main__", "threading"}


class _Judge:
    """What is lost of an object, by its class; what can be made good is made good."""

    def __init__(self, pools: dict[int, str], tasks_are_lost: bool) -> None:
        self._pools = pools
        self._tasks_are_lost = tasks_are_lost
        self.named: set[int] = set()
        """The ids of the thread pools that were found."""
        self._to_restart: list[tuple[Callable[[Any], None], Any]] = []
        self._known: dict[int, tuple[Callable[[Any], str], bool]] = {}
        """By the ids of classes that are loaded: what to ask of an object, and whether it is a lock."""
        asks = {"rebind": self._rebind, "pool": self._pool}
        for module, kind, is_lost, what in _KINDS:
            self._add(module, kind, _answer(is_lost, what), is_lock=False)
        for module, kind, mend in _MENDED:
            self._add(module, kind, asks[mend] if isinstance(mend, str) else mend, is_lock=module in _LOCKS)
        for module, kind, lost, restart in _RESTARTED:
            self._add(module, kind, partial(self._restarted, lost, restart), is_lock=False)
        self._by_class: dict[int, tuple[Callable[[Any], str], bool] | None] = {}

    def _add(self, module: str, kind: str, ask: Callable[[Any], str], *, is_lock: bool) -> None:
        known = variables_of(loaded_modules.get(module)).get(kind)
        if known is not None:
            self._known[id(known)] = (ask, is_lock)

    def _entry(self, kind: type) -> tuple[Callable[[Any], str], bool] | None:
        number = id(kind)
        if number not in self._by_class:
            self._by_class[number] = next(filter(None, (self._known.get(id(base)) for base in classes_of(kind))), None)
        return self._by_class[number]

    def is_lock(self, kind: type) -> bool:
        """Whether objects of this class are locks, or made of locks."""
        entry = self._entry(kind)
        return entry is not None and entry[1]

    def __call__(self, value: Any) -> str | None:
        entry = self._entry(type(value))
        if entry is None:
            return ""  # Nothing is known of it: its parts may be lost.
        try:
            return entry[0](value) or None
        except BaseException:  # The object's own code, or a library that is not as we know it: nothing can be said.
            return None

    def restart(self) -> Iterator[str]:
        """Start what has threads, when everything was looked at: what they wait for is not changed any more.

        Yields what could not be started.
        """
        for restart, value in self._to_restart:
            try:
                restart(value)
            except Exception as error:
                yield f"{type(value).__name__} (its threads were not started again: {error})"

    def _restarted(self, lost: Callable[[Any], str], restart: Callable[[Any], None], value: Any) -> str:
        what = lost(value)
        self._to_restart.append((restart, value))
        return what

    def _pool(self, executor: Any) -> str:
        self.named.add(id(executor))
        return self._pools.get(id(executor), "") or revivals.revive_executor(executor)

    def _rebind(self, value: Any) -> str:
        return revivals.rebind(value, self._tasks_are_lost)


def _answer(is_lost: Callable[[Any], bool], what: str) -> Callable[[Any], str]:
    return lambda value: what if is_lost(value) else ""


def _lost_lock(lock: Any) -> str:
    # It does not know who holds it.
    return "a lock that is held, perhaps by a lost thread" if revivals.locks_are_lost() and lock.locked() else ""


def _lost_reentrant_lock(lock: Any) -> str:
    if lock._is_owned():
        return ""
    if not lock.acquire(blocking=False):
        return "a lock that a lost thread holds"
    lock.release()
    return ""


def _lost_condition(condition: Any) -> str:
    condition._waiters.clear()
    lock = condition._lock
    return _lost_reentrant_lock(lock) if hasattr(lock, "_is_owned") else _lost_lock(lock)


def _always(value: Any) -> bool:
    return True


def _is_unfinished(value: Any) -> bool:
    return not value.done()


def _is_open(value: Any) -> bool:
    return not value.closed


def _has_no_exit_code(value: Any) -> bool:
    return value.returncode is None


def _has_started_and_not_ended(process: Any) -> bool:
    return process._popen is not None and process._popen.returncode is None


def _has_processes(executor: Any) -> bool:
    return bool(executor._processes)


def _lost_file(file: Any) -> str:
    """Of file objects other than the three standard streams."""
    try:
        fd = -1 if file.closed else file.fileno()
    except OSError:
        fd = -1  # It is on an object, not on a descriptor.
    mode = os.fstat(fd).st_mode if fd > 2 else 0
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "a file on a pipe or a socket"
    buffered = getattr(file, "buffer", file)
    if revivals.locks_are_lost() and hasattr(buffered, "raw") and revivals.is_stuck(buffered):
        return "a file that a lost thread was writing to"
    return ""


_FILES = ("FileIO", "BufferedReader", "BufferedWriter", "BufferedRandom", "BufferedRWPair", "TextIOWrapper")

# Module and class, when an object of it is lost, and what to call it. Modules that are not loaded have no objects.
_KINDS: tuple[tuple[str, str, Callable[[Any], bool], str], ...] = (
    ("threading", "Thread", revivals.is_lost, "a thread"),
    ("socket", "socket", lambda value: value.fileno() != -1, "a socket"),
    ("socketserver", "BaseServer", lambda value: value.fileno() != -1, "a server"),
    ("subprocess", "Popen", _has_no_exit_code, "a child process"),
    ("asyncio.subprocess", "Process", _has_no_exit_code, "a child process"),
    ("multiprocessing.process", "BaseProcess", _has_started_and_not_ended, "a child process"),
    ("multiprocessing.pool", "Pool", lambda value: value._state == "RUN", "a pool of workers"),
    ("multiprocessing.pool", "ApplyResult", lambda value: not value._event._flag, "a call that was under way"),
    ("multiprocessing.connection", "_ConnectionBase", _is_open, "a connection to another process"),
    ("multiprocessing.queues", "Queue", _always, "a queue between processes"),
    ("multiprocessing.queues", "SimpleQueue", _always, "a queue between processes"),
    ("multiprocessing.managers", "BaseManager", _always, "a child process"),
    ("multiprocessing.managers", "BaseProxy", _always, "an object in another process"),
    ("concurrent.futures.process", "ProcessPoolExecutor", _has_processes, "a pool of workers"),
    ("loky.process_executor", "ProcessPoolExecutor", _has_processes, "a pool of workers"),
    ("joblib.externals.loky.process_executor", "ProcessPoolExecutor", _has_processes, "a pool of workers"),
    ("asyncio", "Task", _is_unfinished, "an unfinished task"),
    ("asyncio", "Future", _is_unfinished, "an unfinished future"),
    ("asyncio", "BaseTransport", _always, "a connection"),
    ("asyncio", "StreamReader", lambda value: not value.at_eof(), "a connection"),
    ("asyncio", "StreamWriter", _always, "a connection"),
    ("asyncio", "Server", _always, "a server"),
    ("asyncio", "AbstractEventLoop", lambda value: not value.is_closed(), "an event loop"),
    ("socket", "SocketIO", _is_open, "a file on a pipe or a socket"),
)

# Module and class, what is lost of an object, and what starts its threads again.
_RESTARTED: tuple[tuple[str, str, Callable[[Any], str], Callable[[Any], None]], ...] = (
    ("multiprocessing.pool", "ThreadPool", revivals.lost_calls, revivals.restart_pool),
    ("logging.handlers", "QueueListener", revivals.lost_listener, revivals.restart_listener),
)

# Module and class, and what makes an object of it good and returns what is lost of it all the same.
_MENDED: tuple[tuple[str, str, Callable[[Any], str] | str], ...] = (
    ("_thread", "LockType", _lost_lock),
    ("_thread", "RLock", _lost_reentrant_lock),
    ("threading", "_RLock", _lost_reentrant_lock),
    ("threading", "Condition", _lost_condition),
    ("threading", "Event", revivals.mend_event),
    ("threading", "Semaphore", revivals.mend_semaphore),
    ("threading", "Barrier", revivals.mend_barrier),
    ("queue", "Queue", revivals.mend_queue),
    ("concurrent.futures", "Future", revivals.fail_call),
    ("concurrent.futures.thread", "ThreadPoolExecutor", "pool"),
    *(("asyncio.locks", kind, "rebind") for kind in ("Lock", "Event", "Condition", "Semaphore", "Barrier")),
    ("asyncio.queues", "Queue", "rebind"),
    *(("_io", kind, _lost_file) for kind in _FILES),
    ("httpcore", "AsyncConnectionPool", revivals.forget_connections),
    ("torch.utils.data.dataloader", "DataLoader", revivals.forget_workers),
)
_LOCKS = ("_thread", "threading", "queue")
