"""Locks, queues, threads and their pools."""

from tests.state.catalogue.entry import GONE, Entry, Library

THREADS = Library(
    "standard library: threads",
    setup="""
import concurrent.futures, queue, threading, time

waiting = threading.Event()

def thread_of(name):
    thread = threading.Thread(target=waiting.wait, name=name, daemon=True)
    thread.start()
    return thread

def held_by_another():
    lock, holding = threading.Lock(), threading.Event()
    def hold():
        with lock:
            holding.set()
            waiting.wait()
    holder = threading.Thread(target=hold, name="holder", daemon=True)
    holder.start()
    holding.wait()
    return lock, holder

def filled(kind):
    made = kind()
    for number in range(9):
        made.put(number)
    return made

def tried(lock):
    return lock.acquire(timeout=0.2) and (lock.release() or True)
""",
    entries=(
        Entry("threading.Lock", "x = threading.Lock()", "tried(x)"),
        Entry("threading.Lock (held by a cell)", "x = threading.Lock(); x.acquire()", "(x.locked(), tried(x))"),
        Entry("threading.RLock (held by a cell)", "x = threading.RLock(); x.acquire()", "tried(x)"),
        Entry(
            "threading.Condition",
            "x = threading.Condition()",
            "x.acquire() and (x.wait_for(lambda: 5), x.release())[0]",
        ),
        Entry("threading.Semaphore", "x = threading.Semaphore(30)", "x.acquire() and x._value"),
        Entry("threading.Event", "x = threading.Event(); x.set()", "x.wait(0)"),
        Entry("threading.Barrier", "x = threading.Barrier(1)", "x.wait(0.2)"),
        Entry("threading.local", "x = threading.local(); x.value = 5", "x.value"),
        Entry("queue.Queue", "x = filled(queue.Queue)", "x.get(timeout=0.2)"),
        Entry("queue.SimpleQueue", "x = filled(queue.SimpleQueue)", "x.get(timeout=0.2)"),
        Entry("queue.PriorityQueue", "x = filled(queue.PriorityQueue)", "x.get(timeout=0.2)"),
        Entry(
            "threading.Thread (ended)",
            "x = threading.Thread(target=len, args=('',)); x.start(); x.join()",
            "x.is_alive()",
        ),
        Entry("concurrent.futures.Future (done)", "x = concurrent.futures.Future(); x.set_result(6)", "x.result(0)"),
        Entry("ThreadPoolExecutor (not used)", "x = concurrent.futures.ThreadPoolExecutor(2)", "x._max_workers"),
    ),
)

RUNNING_THREADS = Library(
    "standard library: threads that run",
    setup=THREADS.setup,
    back="not",
    entries=(
        Entry("threading.Thread (running)", "x = thread_of('worker')", "x.is_alive()", because=GONE),
        Entry(
            "threading.Timer", "x = threading.Timer(600, len); x.daemon = True; x.start()", "x.is_alive()", because=GONE
        ),
        Entry(
            "threading.Lock (held by a thread)",
            "x = held_by_another()",
            "(x[0].locked(), x[1].is_alive())",
            because="nobody is left to release it",
        ),
        Entry(
            "ThreadPoolExecutor (used)",
            "x = concurrent.futures.ThreadPoolExecutor(2); x.submit(len, 'ab').result()",
            "x.submit(len, 'abc').result(1)",
            "exact",
        ),
        Entry(
            "concurrent.futures.Future (pending)",
            "pool = concurrent.futures.ThreadPoolExecutor(1); x = [pool.submit(time.sleep, 0.3) for _ in range(9)]",
            "x.pop(0).result(2)",
            because=GONE,
        ),
    ),
)
