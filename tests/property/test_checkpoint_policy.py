"""Whatever the cells do: checkpoints cost, as predicted, no more than the cells and their work have paid for."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.kernels.base import Outlook
from pisces.sessions.checkpoint_policy import (
    CELL_MS,
    WORK_SHARE,
    CheckpointMode,
    CheckpointPolicy,
    CheckpointRule,
    Skip,
    Take,
)

OUTLOOKS = st.builds(
    Outlook,
    obstacle=st.sampled_from(["", "", "", "", "a CUDA context is live"]),
    resident_mb=st.floats(0, 8192),
    faults=st.integers(0, 2_000_000),
)
DURATIONS = st.floats(0, 600_000)
MEASURED = st.none() | st.floats(0, 500)
CELLS = st.lists(st.tuples(OUTLOOKS, DURATIONS, MEASURED), max_size=40)

Cells = list[tuple[Outlook, float, float | None]]


def decisions(mode: CheckpointMode, cells: Cells, *, max_mb: int = 4096) -> list[Take | Skip]:
    """What the policy says after each cell, when every checkpoint that it wants is made."""
    policy = CheckpointPolicy(CheckpointRule(mode, max_mb))
    said = []
    for outlook, duration, blocked in cells:
        decision = policy.after_cell(outlook, duration)
        said.append(decision)
        if isinstance(decision, Take):
            policy.made()
            if blocked is not None:
                policy.measured(blocked, outlook.resident_mb)
    return said


def cost(said: list[Take | Skip]) -> float:
    return sum(decision.cost_ms for decision in said if isinstance(decision, Take))


@given(CELLS)
def test_checkpoints_never_cost_more_than_five_milliseconds_a_cell_and_five_per_cent_of_the_work(cells: Cells) -> None:
    said = decisions("auto", cells)
    for end in range(len(cells) + 1):
        paid = CELL_MS * end + WORK_SHARE * sum(duration for _, duration, _ in cells[:end])
        assert cost(said[:end]) <= paid * (1 + 1e-9)


@given(CELLS)
def test_always_makes_one_unless_there_can_be_none(cells: Cells) -> None:
    for (outlook, _, _), decision in zip(cells, decisions("always", cells), strict=True):
        possible = not outlook.obstacle and outlook.resident_mb <= 4096
        assert isinstance(decision, Take if possible else Skip)


@given(CELLS)
def test_off_makes_none_and_gives_no_reason(cells: Cells) -> None:
    assert decisions("off", cells) == [Skip("")] * len(cells)


@given(CELLS)
def test_what_is_skipped_has_a_reason(cells: Cells) -> None:
    assert all(decision.reason for decision in decisions("auto", cells) if isinstance(decision, Skip))


@given(CELLS)
def test_the_same_cells_get_the_same_decisions(cells: Cells) -> None:
    assert decisions("auto", cells) == decisions("auto", cells)


@given(CELLS, st.integers(1, 4096))
def test_a_kernel_above_the_bound_is_never_kept(cells: Cells, max_mb: int) -> None:
    for mode in ("auto", "always"):
        for (outlook, _, _), decision in zip(cells, decisions(mode, cells, max_mb=max_mb), strict=True):
            assert outlook.resident_mb <= max_mb or isinstance(decision, Skip)
