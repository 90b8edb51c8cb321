"""What the user's variables lost by a fork: found, named, and made good where that is safe.

Both functions are for a copy that is woken, `revive_executors` first. They look at the variables and one level into
plain containers; `fork_safety.lost_threads` names the threads themselves.
"""

from __future__ import annotations

from itertools import islice
from types import ModuleType

from . import fork_safety
from .stdlib import loaded_modules, os, stat, threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_INSIDE = 100  # So many elements of a container are looked at.
_PLAIN = (bool, int, float, complex, str, bytes, type(None), ModuleType, type)
_LOCK = type(threading.Lock())
_RLOCK = type(threading.RLock())


def lost_objects(namespace: dict[str, Any]) -> list[str]:
    """The variables that hold something which is not back, each as `name (what)`, in order of name."""
    lost = []
    for name, values in _variables(namespace):
        what = next(filter(None, map(_what_is_lost, values)), "")
        if what:
            lost.append(f"{name} ({what})")
    return sorted(lost)


def revive_executors(namespace: dict[str, Any]) -> None:
    """Let each thread pool among the variables start new threads when it is used again.

    Without this `submit` would count on the old ones and wait for ever. Calls that had not begun are cancelled: whether
    they should run is for the user to say.
    """
    pools = loaded_modules.get("concurrent.futures.thread")
    if pools is None:
        return
    for _, values in _variables(namespace):
        for value in values:
            if issubclass(type(value), pools.ThreadPoolExecutor) and value._threads:
                _revive(value)


def _revive(executor: Any) -> None:
    import queue

    fork_safety.forget_threads({thread.name for thread in executor._threads})
    waiting, executor._work_queue = executor._work_queue, queue.SimpleQueue()
    executor._threads = set()
    executor._idle_semaphore = threading.Semaphore(0)
    executor._shutdown_lock = threading.Lock()  # A thread may have held the old one.
    while not waiting.empty():
        call = waiting.get_nowait()
        if call is not None:
            call.future.cancel()


def _variables(namespace: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Each name of the user's with its value, and with what that holds when it is a plain container."""
    for name, value in list(namespace.items()):
        if type(name) is not str or name.startswith("_") or issubclass(type(value), _PLAIN):
            continue  # Not `isinstance`, which asks the value too.
        inside: Any = ()
        if type(value) in (list, tuple, set, frozenset):
            inside = value
        elif type(value) is dict:
            inside = value.values()
        yield name, [value, *islice(inside, _INSIDE)]


def _what_is_lost(value: Any) -> str:
    try:
        if isinstance(value, _PLAIN):
            return ""
        if isinstance(value, (threading.Thread, _LOCK, _RLOCK)):
            return _lost_of_threading(value)
        for module, kind, is_lost, what in _KINDS:
            known = getattr(loaded_modules.get(module), kind, None)
            if known is not None and isinstance(value, known):
                return what if is_lost(value) else ""
    except BaseException:  # The object's own code, or a library that is not as we know it: nothing can be said.
        return ""
    return ""


def _lost_of_threading(value: Any) -> str:
    lost = fork_safety.lost_threads()
    if isinstance(value, threading.Thread):
        return "a thread" if fork_safety.thread_text(value.name) in lost else ""
    if isinstance(value, _LOCK):  # It does not know who holds it.
        return "a lock that is held, perhaps by a lost thread" if lost and value.locked() else ""
    if value._is_owned():
        return ""
    if not value.acquire(blocking=False):
        return "a lock that a lost thread holds"
    value.release()
    return ""


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


def _leads_elsewhere(file: Any) -> bool:
    """Whether a file object is on a pipe or a socket, and not one of the three standard streams."""
    if file.closed or file.fileno() <= 2:
        return False
    mode = os.fstat(file.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


# Module and class, when an object of it is lost, and what to call it. Modules that are not loaded have no objects.
_KINDS: tuple[tuple[str, str, Callable[[Any], bool], str], ...] = (
    ("socket", "socket", lambda value: value.fileno() != -1, "a socket"),
    ("socketserver", "BaseServer", lambda value: value.fileno() != -1, "a server"),
    ("subprocess", "Popen", _has_no_exit_code, "a child process"),
    ("asyncio.subprocess", "Process", _has_no_exit_code, "a child process"),
    ("multiprocessing.process", "BaseProcess", _has_started_and_not_ended, "a child process"),
    ("multiprocessing.pool", "Pool", lambda value: value._state == "RUN", "a pool of workers"),
    ("multiprocessing.connection", "_ConnectionBase", _is_open, "a connection to another process"),
    ("multiprocessing.queues", "Queue", _always, "a queue between processes"),
    ("multiprocessing.queues", "SimpleQueue", _always, "a queue between processes"),
    ("multiprocessing.managers", "BaseManager", _always, "a child process"),
    ("multiprocessing.managers", "BaseProxy", _always, "an object in another process"),
    ("concurrent.futures.process", "ProcessPoolExecutor", lambda value: bool(value._processes), "a pool of workers"),
    ("concurrent.futures", "Future", _is_unfinished, "a call that was under way"),
    ("asyncio", "Task", _is_unfinished, "an unfinished task"),
    ("asyncio", "Future", _is_unfinished, "an unfinished future"),
    ("asyncio", "BaseTransport", _always, "a connection"),
    ("asyncio", "StreamReader", lambda value: not value.at_eof(), "a connection"),
    ("asyncio", "StreamWriter", _always, "a connection"),
    ("asyncio", "Server", _always, "a server"),
    ("asyncio", "AbstractEventLoop", lambda value: not value.is_closed(), "an event loop"),
    ("selectors", "BaseSelector", _always, "a selector"),
    ("select", "epoll", _is_open, "a selector"),
    ("io", "IOBase", _leads_elsewhere, "a file on a pipe or a socket"),
)
