"""One deadline is handed down: every wait takes the smaller of its own cap and what is left."""

import math
import time

import anyio

from pisces.kernels.deadline import Deadline


def test_what_remains_is_never_more_than_the_cap_and_never_negative() -> None:
    assert 9 < Deadline.after(10).remaining() <= 10
    assert Deadline.after(10).remaining(cap=3) == 3
    assert Deadline.after(-1).remaining() == 0


def test_a_deadline_that_has_passed_is_expired() -> None:
    assert Deadline(at=time.monotonic() - 1, seconds=5).expired
    assert not Deadline.after(60).expired


def test_no_deadline_never_comes() -> None:
    assert Deadline.never().remaining() == math.inf
    assert Deadline.never().remaining(cap=2) == 2
    assert not Deadline.never().expired


async def test_a_scope_ends_its_waits_when_the_time_is_up() -> None:
    with Deadline.after(0.01).scope() as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_scope_ends_its_waits_when_the_cap_is_reached() -> None:
    with Deadline.never().scope(cap=0.01) as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught
