"""Makes good in a woken copy what the fork broke, where that is known to be right; for a copy without its old threads.

Thread pools start new threads, queues and conditions forget those who waited, asyncio's locks bind to the new loop, and
modules that a lost thread was importing can be imported again. Each function returns what could not be made good.
"""

from __future__ import annotations

import sys

from . import fork_safety
from .fork_search import attribute, classes_of
from .forking import is_aside
from .stdlib import loaded_modules, os, threading, weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_OWN_THREADS = "pisces-"
_STUCK_SECONDS = 0.3
_FRAMES = 20  # A worker that waits for a call is this deep at most.
_POOLS = "concurrent.futures.thread"
_BROKEN = -2  # The state of a barrier.
_FINISHED = ("CANCELLED", "CANCELLED_AND_NOTIFIED", "FINISHED")


class _AtFork:
    """The threads that the last fork left behind, as the process that forked noted them."""

    pid = 0
    threads: list[weakref.ref[threading.Thread]] = []  # noqa: RUF012  # Replaced, never changed.
    working: frozenset[int | None] = frozenset()
    """Which threads of pools had a call under way, by their ids."""
    holds_locks = False
    """Whether any of the threads may hold a lock: one of a pool that waits for a call holds none."""


def note_threads() -> None:
    """In the live kernel, just before a fork: who will be lost, and which thread pools are at work.

    A copy cannot tell threads that were lost from those that had ended. Without other threads this costs 0.5 µs.
    """
    _AtFork.pid, _AtFork.threads, _AtFork.working, _AtFork.holds_locks = os.getpid(), [], frozenset(), False
    active = threading._active  # type: ignore[attr-defined]  # Not in typeshed.
    if len(active) == 1:
        return
    own_id = threading.get_ident()
    others = [thread for number, thread in list(active.items()) if number != own_id and not _is_ours(thread)]
    _AtFork.threads = list(map(weakref.ref, others))
    pools = loaded_modules.get(_POOLS)
    workers = list(pools._threads_queues) if pools is not None else []
    if workers:
        frames = sys._current_frames()
        working = {worker.ident for worker in workers if not _waits_for_a_call(frames.get(worker.ident), pools)}
        _AtFork.working = frozenset(working)
    _AtFork.holds_locks = len(others) > len(workers) - len(_AtFork.working)


def _note_again() -> None:
    """At the fork itself: it may have waited for a moment that harms no thread, and they went on meanwhile."""
    if _AtFork.threads and is_aside() and _AtFork.pid == os.getpid():
        note_threads()


os.register_at_fork(before=_note_again)


def is_lost(thread: Any) -> bool:
    """Whether this thread ran when the copy was forked off."""
    return _AtFork.pid != os.getpid() and any(noted() is thread for noted in _AtFork.threads)


def locks_are_lost() -> bool:
    """Whether a thread is lost that may have held a lock."""
    return _AtFork.holds_locks and _AtFork.pid != os.getpid()


def revive_thread_pools() -> dict[int, tuple[str, str]]:
    """Let each `ThreadPoolExecutor` start new threads when it is used again, wherever it is.

    Without this `submit` would count on the old ones and wait for ever. Calls that had not begun are cancelled: whether
    they should run is for the user to say. Returns the name of each pool that lost calls and which, by its id.
    """
    pools = loaded_modules.get(_POOLS)
    lost = {}
    if pools is not None:
        for executor in _executors(pools):
            what = revive_executor(executor)
            if what:
                lost[id(executor)] = (str(attribute(executor, "_thread_name_prefix")), what)
        pools._threads_queues.clear()
    return lost


def give_up_imports() -> list[str]:
    """Have what a lost thread was importing imported anew: who asked for it would wait for that thread for ever.

    Returns the modules, for the reader of a restore.
    """
    locks = getattr(loaded_modules.get("importlib._bootstrap"), "_module_locks", None)
    if not locks:
        return []
    own_id, names = threading.get_ident(), []
    for name, reference in list(locks.items()):
        lock = reference()
        if getattr(lock, "owner", None) not in {None, own_id}:
            del locks[name]
            _drop_module(name)
            names.append(f"module {name!r} (a lost thread was importing it)")
    return names


def forget_shared_objects() -> None:
    """Have libraries make anew what all code of the process shares."""
    for name, forget in _SHARED:
        module = loaded_modules.get(name)
        if module is not None:
            try:
                forget(module)
            except Exception:
                pass  # A release that is not as we know it: what is lost of it is named all the same.


def _is_ours(thread: Any) -> bool:
    name = object.__getattribute__(thread, "__dict__").get("_name")  # A class of the user's may have a `name`.
    return type(name) is str and name.startswith(_OWN_THREADS)


def _waits_for_a_call(frame: Any, pools: Any) -> bool:
    for _ in range(_FRAMES):
        if frame is None or frame.f_code is getattr(pools._WorkItem.run, "__code__", None):
            return False
        if frame.f_code is getattr(pools._worker, "__code__", None):
            return True
        frame = frame.f_back
    return False


def _executors(pools: Any) -> Iterator[Any]:
    """Each executor with threads, once. A thread's first argument leads to its executor, in Python 3.9 to 3.14."""
    seen = set()
    for thread in list(pools._threads_queues):
        reference = (attribute(thread, "_args") or (None,))[0]
        executor = reference() if type(reference) is weakref.ref else reference
        if pools.ThreadPoolExecutor in classes_of(type(executor)) and id(executor) not in seen:
            seen.add(id(executor))
            yield executor


def revive_executor(executor: Any) -> str:
    """Let a `ThreadPoolExecutor` start new threads when it is used again."""
    try:
        return _revive(executor) if executor._threads else ""
    except Exception:  # A class that is not as we know it.
        return "a thread pool that cannot be used again"


def _revive(executor: Any) -> str:
    import queue

    fork_safety.forget_threads({thread.name for thread in executor._threads})
    running = sum(thread.ident in _AtFork.working for thread in executor._threads)
    executor._threads.clear()
    executor._idle_semaphore = threading.Semaphore(0)
    executor._shutdown_lock = threading.Lock()  # A thread may have held the old one.
    waiting = executor._work_queue
    if isinstance(waiting, queue.Queue):
        mend_queue(waiting)  # Of a class of the user's, perhaps with a bound on its length.
    else:
        executor._work_queue = queue.SimpleQueue()
    cancelled = 0
    while not waiting.empty():
        call = waiting.get_nowait()
        if call is not None:
            mend_condition(call.future._condition)
            cancelled += call.future.cancel()
    return _lost_calls(running, cancelled)


def _lost_calls(running: int, waiting: int) -> str:
    counts = [f"{count} {what}" for count, what in ((running, "running"), (waiting, "waiting")) if count]
    plural = "s" if running + waiting > 1 else ""
    return f"a thread pool that lost {' and '.join(counts)} call{plural}" if counts else ""


def lost_calls(pool: Any) -> str:
    """Which calls a `multiprocessing.pool.ThreadPool` lost."""
    return _lost_calls(len(pool._cache), 0) if _needs_threads(pool) else ""


def restart_pool(pool: Any) -> None:
    """Start a `multiprocessing.pool.ThreadPool` anew, with its settings."""
    if _needs_threads(pool):
        handlers = (pool._worker_handler, pool._task_handler, pool._result_handler)
        fork_safety.forget_threads({thread.name for thread in (*pool._pool, *handlers)})
        pool._terminate.cancel()
        settings = (pool._processes, pool._initializer, pool._initargs, pool._maxtasksperchild, pool._ctx)
        loaded_modules["multiprocessing.pool"].Pool.__init__(pool, *settings)


def _needs_threads(pool: Any) -> bool:
    return pool._state == "RUN" and any(map(is_lost, pool._pool))


def lost_listener(listener: Any) -> str:
    """Whether a `logging.handlers.QueueListener` listens to a queue that is not back."""
    import queue

    works = listener._thread is None or isinstance(listener.queue, (queue.Queue, queue.SimpleQueue))
    return "" if works else "a listener to a queue between processes"


def restart_listener(listener: Any) -> None:
    """Have another thread of a `QueueListener` handle what waits and what comes."""
    if listener._thread is not None and is_lost(listener._thread) and not lost_listener(listener):
        fork_safety.forget_threads({listener._thread.name})
        listener._thread = None
        listener.start()


def fail_call(future: Any) -> str:
    """A `concurrent.futures.Future`: whoever asks for the result of a call that ran gets an error and need not wait."""
    state = attribute(future, "_state")
    if state in _FINISHED:
        return ""
    mend_condition(future._condition)
    if state == "RUNNING":
        text = "the call was under way when the checkpoint was made that this process went on from"
        future._exception = loaded_modules["concurrent.futures"].BrokenExecutor(text)
        future._state = "FINISHED"  # Without `set_exception`, which runs code of the user's.
    return "a call that was under way"


def mend_condition(condition: Any) -> None:
    """Forget who waited, and free the lock: only for one whose lock nobody but its own class takes."""
    condition._lock._at_fork_reinit()
    condition._waiters.clear()


def mend_queue(queue: Any) -> str:
    """A lost thread that waited for an item would take the next notification; one inside a method holds the lock."""
    if queue.mutex.locked():
        queue.mutex.release()
    for condition in (queue.not_empty, queue.not_full, queue.all_tasks_done):
        condition._waiters.clear()
    return ""


def mend_event(event: Any) -> str:
    """A `threading.Event`, which a lost thread waited for."""
    mend_condition(event._cond)
    return ""


def mend_semaphore(semaphore: Any) -> str:
    """A `threading.Semaphore`, which a lost thread waited for, or has."""
    mend_condition(semaphore._cond)
    return "a semaphore that is used up, perhaps by lost threads" if not semaphore._value and locks_are_lost() else ""


def mend_barrier(barrier: Any) -> str:
    """A `threading.Barrier`: nobody is at it any more."""
    mend_condition(barrier._cond)
    barrier._count, barrier._state = 0, _BROKEN if barrier._state == _BROKEN else 0
    return ""


def is_stuck(file: Any) -> bool:
    """Whether a lost thread is inside a buffered file, and has its lock: nobody could write to it any more.

    Only trying tells. It is done in a thread, which is left behind where it waits for ever.
    """
    tried = threading.Event()

    def write_nothing() -> None:
        try:
            file.write(b"")
        except RuntimeError:  # "Reentrant call": this thread got the number of the one that is lost.
            return
        except Exception:
            pass  # It is closed, or only for reading. It answers.
        tried.set()

    threading.Thread(target=write_nothing, name=_OWN_THREADS + "prober", daemon=True).start()
    return not tried.wait(_STUCK_SECONDS)


def forget_workers(loader: Any) -> str:
    """A `DataLoader` with persistent workers makes others when it is iterated again."""
    workers, loader._iterator = loader._iterator, None
    if workers is not None:
        workers._shutdown = True  # Its `__del__` would wait for processes that are not ours.
    return ""


def forget_connections(pool: Any) -> str:
    """A pool of httpcore's: its connections go through the old event loop, new ones do not."""
    pool._connections.clear()
    pool._requests.clear()
    return ""


def rebind(value: Any, tasks_are_lost: bool) -> str:
    """Let a lock or a queue of asyncio's bind to the new loop, without the tasks that waited."""
    if sys.version_info < (3, 10):
        return "bound to an event loop that has ended"  # From its making on.
    value._loop = None
    for name in ("_waiters", "_getters", "_putters"):
        waiting = attribute(value, name)
        if waiting:
            waiting.clear()
    if attribute(value, "_parties"):  # A barrier: nobody is at it any more.
        states = type(value._state)
        value._count, value._state = 0, states.BROKEN if value._state is states.BROKEN else states.FILLING
    count = attribute(value, "_value")  # An event's is a bool.
    if tasks_are_lost and (attribute(value, "_locked") is True or (type(count) is int and count == 0)):
        return "a lock of asyncio's that is held, perhaps by a lost task"
    inner = [attribute(value, name) for name in ("_finished", "_lock", "_cond")]
    return next(filter(None, [rebind(part, tasks_are_lost) for part in inner if part is not None]), "")


def _drop_module(name: str) -> None:
    """Forget a module that is half imported, and what is below it: its import would not set that in it again."""
    for below in [key for key in list(loaded_modules) if type(key) is str and key.startswith(name + ".")]:
        loader = getattr(getattr(loaded_modules[below], "__spec__", None), "loader", None)
        if type(loader).__name__ != "ExtensionFileLoader":  # Which often can be loaded only once.
            del loaded_modules[below]
    loaded_modules.pop(name, None)


def _forget_io_loop(asyn: Any) -> None:
    asyn.iothread[0] = asyn.loop[0] = asyn._lock = None
    fork_safety.forget_threads({"fsspecIO"})


def _forget_processes(executors: Any) -> None:
    executors._executor, executors._executor_lock = None, threading.RLock()


def _forget_tracker(trackers: Any) -> None:
    # Of semaphores and shared memory. What led to its process is dead, and Python would warn of that.
    tracker = trackers._resource_tracker
    if tracker._fd is not None:
        os.close(tracker._fd)
        tracker._fd = tracker._pid = None


_SHARED: tuple[tuple[str, Callable[[Any], None]], ...] = (
    ("fsspec.asyn", _forget_io_loop),  # An event loop in a thread.
    ("multiprocessing.resource_tracker", _forget_tracker),
    ("loky.backend.resource_tracker", _forget_tracker),
    ("joblib.externals.loky.backend.resource_tracker", _forget_tracker),
    ("loky.reusable_executor", _forget_processes),
    ("joblib.externals.loky.reusable_executor", _forget_processes),
)
