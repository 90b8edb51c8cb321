"""Which cells are part of the present state."""

from pisces.journal.entries import (
    AnyEntry,
    BranchPoint,
    CellBegan,
    CheckpointNamed,
    Reset,
    SessionBegan,
    StateChanged,
    WentBack,
)
from pisces.journal.history import present_cells
from pisces.model.events import Restore
from tests.unit.journal.journaling import BEGAN, cell, joined


def codes(entries: list[AnyEntry]) -> list[str]:
    """The code of the present cells; lost ones in brackets."""
    return [f"({past.began.code})" if past.lost else past.began.code for past in present_cells(entries)]


ABC = joined(BEGAN, cell(1, "a"), cell(2, "b"), cell(3, "c"))


def test_cells_that_were_undone_are_gone() -> None:
    assert codes(joined(ABC, WentBack(4.0, "undo", 2))) == ["a", "b"]
    assert codes(joined(ABC, WentBack(4.0, "undo", 2), WentBack(4.0, "undo", 1), cell(4, "d", position=2))) == [
        "a",
        "d",
    ]
    assert codes(joined(ABC, WentBack(4.0, "undo", 0))) == []


def test_a_named_checkpoint_brings_back_cells_that_were_undone() -> None:
    there_and_back = joined(
        ABC,
        CheckpointNamed(4.0, "x", 3),
        WentBack(5.0, "undo", 1),
        cell(4, "d", position=2),
        WentBack(6.0, "restore", 3, "x"),
        cell(5, "e", position=4),
    )
    assert codes(there_and_back) == ["a", "b", "c", "e"]


def test_a_name_that_is_used_again_means_the_newer_checkpoint() -> None:
    entries = joined(
        BEGAN, cell(1, "a"), CheckpointNamed(4.0, "x", 1), cell(2, "b"), CheckpointNamed(4.0, "x", 2), cell(3, "c")
    )
    assert codes(joined(entries, WentBack(5.0, "restore", 2, "x"))) == ["a", "b"]


def test_cells_that_a_crash_took_away_stay_and_are_marked() -> None:
    crashed = cell(4, "boom", position=3, outcome="crashed", died=True)
    restored = StateChanged(5.0, "restored", "…", 1, Restore("exact", 2))
    assert codes(joined(ABC, crashed, restored)) == ["a", "(b)", "(c)", "boom"]
    lost = joined(ABC, crashed, StateChanged(5.0, "lost", "…"), cell(5, "d", position=1))
    assert codes(lost) == ["(a)", "(b)", "(c)", "boom", "d"]
    assert codes(joined(lost, WentBack(6.0, "undo", 0))) == ["(a)", "(b)", "(c)", "boom"]


def test_a_crash_that_cost_nothing_marks_nothing() -> None:
    crashed = cell(4, "boom", position=3, outcome="crashed", died=True)
    assert codes(joined(ABC, crashed, StateChanged(5.0, "restored", "…", 3, Restore("exact")))) == [
        "a",
        "b",
        "c",
        "boom",
    ]


def test_going_to_a_named_checkpoint_after_a_crash_has_its_cells_back() -> None:
    entries = joined(
        BEGAN, cell(1, "a"), cell(2, "b"), CheckpointNamed(4.0, "x", 2), StateChanged(5.0, "restored", "…", 1)
    )
    assert codes(entries) == ["a", "(b)"]
    assert codes(joined(entries, WentBack(6.0, "restore", 2, "x"))) == ["a", "b"]


def test_a_reset_begins_anew() -> None:
    assert codes(joined(ABC, Reset(4.0), cell(4, "d", position=1))) == ["d"]


def test_a_cell_that_never_began_is_not_there() -> None:
    assert codes(joined(BEGAN, cell(1, "a", outcome="aborted", began=False), cell(2, "b"))) == ["b"]


def test_a_cell_without_an_end_is_there() -> None:
    assert codes(joined(BEGAN, CellBegan(2.0, 1, "still running"))) == ["still running"]


def test_a_branch_goes_on_from_its_origin_and_has_none_of_its_checkpoints() -> None:
    branch = SessionBegan(5.0, "b", branched_from=BranchPoint("s", "/j", 1))
    entries = joined(ABC, CheckpointNamed(4.0, "x", 3), branch, cell(1, "d", position=4))
    assert codes(entries) == ["a", "b", "c", "d"]
    assert codes(joined(entries, WentBack(6.0, "undo", 3))) == ["a", "b", "c"]
