"""What the timeline makes of the entries of a journal."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pisces.journal.entries import (
    AnyEntry,
    BranchPoint,
    CellBegan,
    CellEnded,
    CheckpointNamed,
    Reset,
    SessionBegan,
    SessionClosed,
    StateChanged,
    WentBack,
)
from pisces.journal.history import present_cells
from pisces.journal.tail import Placed
from pisces.render.view import Notice
from pisces.tui.desk.live import LiveText
from tests.unit.journal.journaling import BEGAN, cell, joined
from tests.unit.tui.desk.journals import cell_items, cells, said, timeline_of

ABC = joined(BEGAN, cell(1, "a"), cell(2, "b"), cell(3, "c"))


def test_cells_that_were_taken_back_stay_in_sight_and_are_marked() -> None:
    undone = timeline_of(joined(ABC, WentBack(4.0, "undo", 1), cell(4, "d", position=2)))
    assert cells(undone) == ["a", "b (taken back)", "c (taken back)", "d"]
    assert said(undone) == ["Undo: the state is that of after 1 cell."]
    assert cells(timeline_of(joined(ABC, Reset(4.0)))) == ["a (taken back)", "b (taken back)", "c (taken back)"]


def test_a_mark_goes_when_the_cell_comes_back() -> None:
    there = joined(ABC, CheckpointNamed(4.0, "x", 3), WentBack(5.0, "undo", 1))
    assert cells(timeline_of(there)) == ["a", "b (taken back)", "c (taken back)"]
    assert cells(timeline_of(joined(there, WentBack(6.0, "restore", 3, "x")))) == ["a", "b", "c"]


def test_cells_that_a_crash_took_away_are_marked_as_lost() -> None:
    crashed = cell(4, "boom", position=3, outcome="crashed", died=True)
    assert cells(timeline_of(joined(ABC, crashed, StateChanged(5.0, "restored", "…", 1)))) == [
        "a",
        "b (lost)",
        "c (lost)",
        "boom",
    ]


def test_a_cell_whose_code_never_began_is_marked() -> None:
    assert cells(timeline_of(joined(ABC, cell(4, "d", began=False, outcome="aborted")))) == [
        "a",
        "b",
        "c",
        "d (not run)",
    ]


def test_the_empty_cell_of_a_reset_is_not_shown_unless_it_fails() -> None:
    assert cells(timeline_of(joined(ABC, cell(4, "")))) == ["a", "b", "c"]
    assert cells(timeline_of(joined(ABC, cell(4, "", outcome="crashed")))) == ["a", "b", "c", ""]


def test_a_cell_without_an_end_is_over_when_something_else_begins() -> None:
    timeline = timeline_of(joined(BEGAN, CellBegan(2.0, 1, "a"), CellBegan(3.0, 2, "b")))
    first, second = cell_items(timeline)
    assert (first.running, first.over) == (False, True)
    assert second.running
    assert timeline.running is second


def test_a_new_life_goes_on_below_and_the_cells_of_the_old_one_are_gone() -> None:
    timeline = timeline_of(joined(ABC, SessionClosed(4.0, "idle"), BEGAN, cell(1, "d")))
    assert cells(timeline) == ["a (gone)", "b (gone)", "c (gone)", "d"]
    assert said(timeline) == ["The session was closed: idle.", "The session has begun anew, with a fresh kernel."]


def test_of_a_kernel_on_a_gateway_it_is_not_said_that_it_is_gone() -> None:
    again = SessionBegan(4.0, "s", backend="gateway")
    timeline = timeline_of(joined(ABC, again, cell(1, "d")))
    assert cells(timeline) == ["a", "b", "c", "d"]
    assert said(timeline) == [
        "The session has begun anew, with the kernel that its gateway still had, or a fresh one.",
    ]


def test_a_branch_says_where_it_comes_from_and_keeps_the_cells_of_its_origin() -> None:
    branch = SessionBegan(4.0, "t", branched_from=BranchPoint("s", "j", 9))
    timeline = timeline_of(joined(ABC, branch, cell(1, "d", position=4)))
    assert cells(timeline) == ["a", "b", "c", "d"]
    assert said(timeline) == ["Session 't' goes on from here: a branch of 's'."]


def test_cells_of_one_call_are_numbered_when_there_are_several() -> None:
    def part(number: int, call: int, index: int) -> list[AnyEntry]:
        return [CellBegan(2.0, number, "x", call=call, index=index), CellEnded(3.0, number, position=number)]

    timeline = timeline_of(joined(BEGAN, part(1, 1, 0), part(2, 2, 0), part(3, 2, 1), part(4, 2, 2), part(5, 3, 0)))
    assert [item.part for item in cell_items(timeline)] == [0, 1, 2, 3, 0]


def test_a_cell_that_was_sent_from_here_is_known_as_such_and_heard() -> None:
    timeline, live = timeline_of([BEGAN]), LiveText()
    expected = timeline.expect("mine\n", live)
    began = [Placed(CellBegan(2.0, 1, "theirs"), 1, 2), Placed(CellEnded(2.0, 1), 2, 3)]
    timeline.follow(Path("journal"), [*began, Placed(CellBegan(2.0, 2, "mine"), 3, 4)], 10)
    theirs, mine = cell_items(timeline)
    assert (theirs.own, mine.own, mine.live, mine.end) == (False, True, live, 10)
    timeline.expect_no_more(expected)
    timeline.follow(Path("journal"), [Placed(CellEnded(3.0, 2), 10, 11)], 11)
    assert mine.live is None
    assert timeline.running is None


def test_what_the_journal_tells_is_not_said_again() -> None:
    timeline = timeline_of(joined(ABC, StateChanged(5.0, "restored", "It is back.", 3)))
    timeline.say_once(Notice("restored", "It is back."))
    timeline.say_once(Notice("info", "Something else."))
    assert said(timeline) == ["It is back.", "Something else."]


numbers = st.integers(0, 6)
names = st.sampled_from(["", "x", "y"])
entries = st.lists(
    st.one_of(
        st.just(BEGAN),
        st.just(SessionBegan(1.0, "t", branched_from=BranchPoint("s", "j", 0))),
        st.builds(CellBegan, st.just(1.0), numbers, st.sampled_from(["a", "b", ""]), call=numbers, index=numbers),
        st.builds(
            CellEnded,
            st.just(1.0),
            numbers,
            st.sampled_from(["ok", "error", "crashed"]),
            numbers,
            began=st.booleans(),
            died=st.booleans(),
        ),
        st.builds(StateChanged, st.just(1.0), st.sampled_from(["restored", "lost"]), st.just("…"), numbers),
        st.builds(CheckpointNamed, st.just(1.0), st.sampled_from("xy"), numbers),
        st.builds(
            WentBack, st.just(1.0), st.sampled_from(["undo", "restore"]), numbers, st.sampled_from(["", "x", "y"])
        ),
        st.builds(Reset, st.just(1.0)),
        st.builds(SessionClosed, st.just(1.0)),
    ),
    max_size=40,
)


@given(entries)
def test_marks_agree_with_what_made_the_present_state(story: list[AnyEntry]) -> None:
    """Whatever a journal tells, in whatever order."""
    items = [item for item in cell_items(timeline_of(story)) if item.began.code and item.mark in ("", "lost")]
    present = [past for past in present_cells(story) if past.began.code]
    assert [(item.began, item.mark == "lost") for item in items] == [(past.began, past.lost) for past in present]
