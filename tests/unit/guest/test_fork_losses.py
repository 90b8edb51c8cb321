"""A copy of a kernel names the variables whose objects did not survive, and makes thread pools usable again."""

from pathlib import Path

import pytest

from tests.unit.guest.forked_process import run_forking

pytestmark = pytest.mark.processes


def test_what_did_not_survive_is_named_by_variable(tmp_path: Path) -> None:
    program = """
import asyncio, concurrent.futures, io, socket, subprocess
closed = socket.socket(); closed.close()
ended = subprocess.Popen(["true"]); ended.wait()
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
gate = threading.Event()
worker = threading.Thread(target=gate.wait, name="worker", daemon=True)
worker.start()
done = threading.Thread(target=print); done.start(); done.join()
loop = asyncio.new_event_loop()
variables = {
    "server": socket.socket(), "closed": closed, "child": child, "ended": ended, "pipe": child.stdout,
    "worker": worker, "done": done, "several": [1, socket.socket()], "by_key": {"k": socket.socket()},
    "loop": loop, "future": loop.create_future(), "file": open(sys.executable, "rb"), "text": io.StringIO(),
    "free": threading.Lock(), "number": 1, "_private": socket.socket(),
}
report(in_a_copy(lambda: fork_losses.lost_objects(variables)))
child.communicate()
loop.close()
"""
    assert run_forking(program, cwd=tmp_path) == [
        "by_key (a socket: by_key['k'])",
        "child (a child process)",
        "future (an unfinished future)",
        "loop (an event loop)",
        "pipe (a file on a pipe or a socket)",
        "server (a socket)",
        "several (a socket: several[1])",
        "worker (a thread)",
    ]


def test_locks_that_another_thread_holds_are_named(tmp_path: Path) -> None:
    program = """
plain, reentrant, ours = threading.Lock(), threading.RLock(), threading.RLock()
ours.acquire()
held, gate = threading.Event(), threading.Event()
def hold():
    with plain, reentrant:
        held.set()
        gate.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
variables = {"plain": plain, "reentrant": reentrant, "ours": ours}
report(in_a_copy(lambda: fork_losses.lost_objects(variables)))
"""
    assert run_forking(program, cwd=tmp_path) == [
        "plain (a lock that is held, perhaps by a lost thread)",
        "reentrant (a lock that a lost thread holds)",
    ]


def test_a_thread_pool_works_again_and_its_threads_are_not_missed(tmp_path: Path) -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
assert list(pool.map(abs, [-1, -2, -3])) == [1, 2, 3]
def use():
    fork_revivals.revive_thread_pools()
    with pool:
        return [list(pool.map(abs, [-4, -5, -6])), fork_safety.lost_threads()]
report([in_a_copy(use), list(pool.map(abs, [-7]))])
"""
    assert run_forking(program, cwd=tmp_path) == [[[4, 5, 6], []], [7]]


def test_calls_of_a_busy_pool_are_cancelled_or_named(tmp_path: Path) -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
begun, gate = threading.Event(), threading.Event()
def work():
    begun.set()
    gate.wait()
running, waiting = pool.submit(work), pool.submit(work)
begun.wait()
variables = {"pools": [pool], "running": running, "waiting": waiting}
def use():
    named = fork_losses.lost_objects(variables)
    return [waiting.cancelled(), named, pool.submit(abs, -1).result(), type(running.exception(10)).__name__]
report(in_a_copy(use))
gate.set()
pool.shutdown()
"""
    assert run_forking(program, cwd=tmp_path) == [
        True,
        [
            "pools (a thread pool that lost 1 running and 1 waiting calls: pools[0])",
            "running (a call that was under way)",
        ],
        1,
        "BrokenExecutor",
    ]


def test_a_call_that_begins_between_the_note_and_the_fork_is_named(tmp_path: Path) -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
from _pisces_guest import forking
pool = ThreadPoolExecutor(1)
pool.submit(abs, -1).result()
fork_revivals.note_threads()
begun, gate = threading.Event(), threading.Event()
def work():
    begun.set()
    gate.wait()
pool.submit(work)
begun.wait()
read, write = os.pipe()
pid = forking.fork_child()
if pid == 0:
    os.write(write, json.dumps(fork_losses.lost_objects({"pool": pool})).encode("utf-8"))
    os._exit(0)
os.waitpid(pid, 0)
report(json.loads(os.read(read, 1000)))
gate.set()
"""
    assert run_forking(program, cwd=tmp_path) == ["pool (a thread pool that lost 1 running call)"]


def test_a_big_object_does_not_hide_what_others_hold(tmp_path: Path) -> None:
    program = """
class Thing: pass
big = [[[[Thing() for _ in range(60)] for _ in range(60)] for _ in range(60)]]
small = Thing()
small.lock = threading.RLock()
taken, gate = threading.Event(), threading.Event()
def hold():
    with small.lock:
        taken.set()
        gate.wait()
threading.Thread(target=hold, daemon=True).start()
taken.wait()
report(in_a_copy(lambda: fork_losses.lost_objects({"big": big, "small": small})))
"""
    assert run_forking(program, cwd=tmp_path) == ["small (a lock that a lost thread holds: small.lock)"]
