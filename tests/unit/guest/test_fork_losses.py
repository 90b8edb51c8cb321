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
        "by_key (a socket)",
        "child (a child process)",
        "future (an unfinished future)",
        "loop (an event loop)",
        "pipe (a file on a pipe or a socket)",
        "server (a socket)",
        "several (a socket)",
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
    fork_losses.revive_executors({"pool": pool})
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
    fork_losses.revive_executors(variables)
    return [waiting.cancelled(), fork_losses.lost_objects(variables), pool.submit(abs, -1).result()]
report(in_a_copy(use))
gate.set()
pool.shutdown()
"""
    assert run_forking(program, cwd=tmp_path) == [True, ["running (a call that was under way)"], 1]
