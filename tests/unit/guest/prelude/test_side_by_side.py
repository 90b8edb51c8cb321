"""`parallel`: what it returns, what it raises, and how much it does at once."""

import signal
import threading
from functools import partial
from typing import Any

import pytest

from pisces.guest.prelude.names import parallel
from pisces.guest.prelude.workers import Workers
from tests.fakes.drive import PATIENCE


def test_the_values_come_in_the_order_of_the_calls(events: list[dict[str, Any]]) -> None:
    gate = threading.Barrier(3)

    def call(n: int) -> int:
        gate.wait(PATIENCE)  # All of them run at once, or none gets past.
        return n

    assert parallel([partial(call, n) for n in (3, 1, 2)]) == [3, 1, 2]
    (event,) = events
    assert (event["op"], event["count"], event["failed"]) == ("parallel", 3, 0)
    assert event["ms"] >= 0


def test_nothing_to_do_is_done() -> None:
    assert parallel([]) == []


def test_no_more_run_at_once_than_was_said() -> None:
    lock, under_way, most = threading.Lock(), [0], [0]
    enough = threading.Semaphore(0)

    def call() -> None:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
            if under_way[0] == 4:
                enough.release(100)
        assert enough.acquire(timeout=PATIENCE)
        with lock:
            under_way[0] -= 1

    parallel([call] * 40, limit=4)
    assert most == [4]


def test_all_are_let_finish_and_the_first_error_by_order_is_raised(events: list[dict[str, Any]]) -> None:
    done: list[int] = []
    later = threading.Event()

    def call(n: int) -> None:
        if n == 1:
            assert later.wait(PATIENCE)
            raise KeyError("first by order")
        done.append(n)
        if n == 2:
            later.set()
            raise ValueError("first by time")

    with pytest.raises(KeyError, match="first by order"):
        parallel([partial(call, n) for n in range(5)])
    assert sorted(done) == [0, 2, 3, 4]
    (event,) = events
    assert (event["count"], event["failed"], event["error"]) == (5, 2, "KeyError: 'first by order'")


@pytest.mark.parametrize("limit", [0, -1, 1.5, None])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(ValueError, match="needs a limit of at least 1"):
        parallel([list], limit=limit)


def test_what_cannot_be_called_is_refused_before_anything_runs() -> None:
    done: list[int] = []
    calls: list[Any] = [lambda: done.append(1), "text"]
    with pytest.raises(TypeError, match="item 1 is of type str"):
        parallel(calls)
    assert done == []


def test_an_interrupt_takes_back_what_has_not_begun() -> None:
    begun: list[int] = []
    came, let_go = threading.Event(), threading.Event()

    def raise_once(*_: object) -> None:
        if not came.is_set():
            came.set()
            raise KeyboardInterrupt

    def call(n: int) -> None:
        begun.append(n)
        while not came.wait(0.05):  # One that comes in the moment before the thread waits is not seen by it.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        let_go.wait(PATIENCE)

    usual = signal.signal(signal.SIGINT, raise_once)
    try:
        with pytest.raises(KeyboardInterrupt):
            parallel([partial(call, n) for n in range(10)], limit=1)
    finally:
        let_go.set()
        signal.signal(signal.SIGINT, usual)
    assert begun == [0]


def test_threads_are_gone_when_there_is_nothing_to_do() -> None:
    workers = Workers(2)
    before = threading.active_count()
    futures = [workers.submit(partial(abs, n)) for n in range(20)]
    assert [future.result(PATIENCE) for future in futures] == list(range(20))
    for thread in threading.enumerate():
        if thread.name == "pisces-worker":
            thread.join(PATIENCE)
    assert threading.active_count() <= before
    assert workers.submit(lambda: "again").result(PATIENCE) == "again"
