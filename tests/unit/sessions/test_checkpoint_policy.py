"""When a checkpoint is worth its cost, in the cases that matter."""

import pytest

from pisces.kernels.base import Outlook
from pisces.sessions.checkpoint_policy import CheckpointPolicy, CheckpointRule, Skip, Take

SMALL = Outlook(resident_mb=28, faults=740)
"""A session with IPython, after a cell that did nothing much."""


def taken(policy: CheckpointPolicy, outlook: Outlook, duration_ms: float, *, blocked_ms: float = 1.0) -> bool:
    """Whether a checkpoint is made after such a cell."""
    if isinstance(policy.after_cell(outlook, duration_ms), Skip):
        return False
    policy.made()
    policy.measured(blocked_ms, outlook.resident_mb)
    return True


def test_short_cells_with_little_memory_are_kept_one_by_one() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    assert [taken(policy, SMALL, 0.5, blocked_ms=1.9) for _ in range(20)] == [True] * 20


def test_one_slow_fork_does_not_end_the_checkpoints_of_a_session() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    forks = [1.0, 60.0, 1.0, 1.0, 60.0, 1.0]
    assert [taken(policy, SMALL, 0.5, blocked_ms=blocked) for blocked in forks] == [True] * 6


def test_a_long_cell_pays_for_a_large_kernel_and_a_short_one_does_not() -> None:
    large = Outlook(resident_mb=1024)
    assert not taken(CheckpointPolicy(CheckpointRule()), large, 100)
    assert taken(CheckpointPolicy(CheckpointRule()), large, 1000)


def test_short_cells_of_a_large_kernel_are_kept_every_now_and_then() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    large = Outlook(resident_mb=1024)
    assert [taken(policy, large, 1, blocked_ms=31) for _ in range(21)] == ([False] * 6 + [True]) * 3


def test_memory_that_is_rewritten_above_a_checkpoint_is_paid_for_before_the_next() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    calm, rewritten = Outlook(resident_mb=1024), Outlook(resident_mb=1024, faults=1024 * 256)
    assert taken(policy, calm, 1000, blocked_ms=31)
    assert not taken(policy, rewritten, 940)
    # The pages are the kernel's own now: that cells copy nothing says nothing about what a new checkpoint would cost.
    cells = 0
    while not taken(policy, calm, 70, blocked_ms=31):
        cells += 1
    assert 60 < cells < 140


def test_new_memory_is_not_taken_for_copied_memory() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    assert taken(policy, SMALL, 1)
    assert taken(policy, Outlook(resident_mb=128, faults=25_700), 100)


def test_what_a_woken_kernel_touches_at_first_is_not_the_price_of_a_checkpoint() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    assert taken(policy, SMALL, 1)
    policy.began_anew()
    assert taken(policy, Outlook(resident_mb=28, faults=6000), 1)


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_what_stands_in_the_way_is_the_reason(mode: str) -> None:
    policy = CheckpointPolicy(CheckpointRule("auto" if mode == "auto" else "always", max_mb=100))
    assert policy.after_cell(Outlook(obstacle="a CUDA context is live"), 1000) == Skip("a CUDA context is live")
    above = policy.after_cell(Outlook(resident_mb=2048), 100_000)
    assert above == Skip("the kernel holds 2,048 MiB, more than python.checkpointMaxMb allows")


def test_a_cost_that_is_too_high_is_named_with_the_work() -> None:
    policy = CheckpointPolicy(CheckpointRule())
    assert policy.after_cell(Outlook(resident_mb=1024), 12) == Skip("it would cost about 32 ms after 12 ms of work")


def test_always_does_not_mind_the_cost() -> None:
    assert isinstance(CheckpointPolicy(CheckpointRule("always")).after_cell(Outlook(resident_mb=4000), 0), Take)


def test_quick_cells_that_follow_each_other_at_once_are_kept_together() -> None:
    policy = CheckpointPolicy(CheckpointRule())

    def kept_after(duration_ms: float) -> bool:
        taken = isinstance(policy.after_cell(SMALL, duration_ms, put_off_ms=50), Take)
        if taken:
            policy.made()
        return taken

    assert [kept_after(20) for _ in range(6)] == [False, False, True, False, False, True]
    assert kept_after(60), "work that is worth keeping is kept at once"
    assert isinstance(policy.after_cell(SMALL, 0.5), Take), "and so is the cell after which nothing follows"


def test_always_keeps_quick_cells_one_by_one() -> None:
    policy = CheckpointPolicy(CheckpointRule(mode="always"))
    assert isinstance(policy.after_cell(SMALL, 0.5, put_off_ms=50), Take)
