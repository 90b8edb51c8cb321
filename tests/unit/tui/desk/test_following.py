"""Following journals while they are written."""

import fcntl
import os
from pathlib import Path

from pisces.journal.entries import BranchPoint, CellBegan, CellEnded, Output, SessionBegan
from pisces.journal.tail import OUTPUT, JournalTail
from pisces.model.events import Stream
from pisces.tui.desk.following import Following
from tests.unit.journal.journaling import BEGAN, cell
from tests.unit.tui.desk.journals import cell_items, cells, read_all, said, write


def followed(*journals: Path) -> Following:
    following = Following()
    for journal in journals:
        following.go_on_with(journal)
    return following


def test_what_is_added_is_seen_and_half_a_line_waits(tmp_path: Path) -> None:
    journal = write(tmp_path / "a.jsonl", BEGAN, *cell(1, "a"))
    following = followed(journal)
    assert cells(read_all(following)) == ["a"]
    assert not following.poll()
    with journal.open("ab") as file:
        file.write(b'{"type":"CellBegan","time":2.0,')
    assert not following.poll()
    with journal.open("ab") as file:
        file.write(b'"cell":2,"code":"b"}\n')
    assert following.poll()
    assert cells(following.timeline) == ["a", "b"]


def test_the_end_of_a_running_cell_moves_on_with_its_output(tmp_path: Path) -> None:
    journal = write(tmp_path / "a.jsonl", BEGAN, CellBegan(2.0, 1, "a"))
    following = followed(journal)
    (item,) = cell_items(read_all(following))
    before = item.version
    write(journal, Output(2.0, 1, Stream("stdout", "x")))
    assert following.poll()
    assert item.end == journal.stat().st_size
    assert item.version != before


def test_damaged_and_unknown_lines_are_passed_over(tmp_path: Path) -> None:
    journal = write(tmp_path / "a.jsonl", BEGAN)
    with journal.open("ab") as file:
        file.write(b'{"type":"Later"}\nnot json\n\xff\xfe\n\n')
    write(journal, *cell(1, "a"))
    assert cells(read_all(followed(journal))) == ["a"]


def test_a_branch_begins_with_the_cells_of_its_origin_up_to_the_branch(tmp_path: Path) -> None:
    origin = write(tmp_path / "a.jsonl", BEGAN, *cell(1, "a"))
    point = BranchPoint("s", str(origin), origin.stat().st_size)
    write(origin, *cell(2, "not in the branch"))
    middle = write(tmp_path / "b.jsonl", SessionBegan(4.0, "t", branched_from=point), *cell(1, "b", position=2))
    deeper = BranchPoint("t", str(middle), middle.stat().st_size)
    write(middle, *cell(2, "nor this"))
    journal = write(tmp_path / "c.jsonl", SessionBegan(5.0, "u", branched_from=deeper), *cell(1, "c", position=3))
    timeline = read_all(followed(journal))
    assert cells(timeline) == ["a", "b", "c"]
    assert said(timeline)[-1] == "Session 'u' goes on from here: a branch of 't'."


def test_an_origin_that_is_gone_is_named(tmp_path: Path) -> None:
    point = BranchPoint("s", str(tmp_path / "gone.jsonl"), 100)
    journal = write(tmp_path / "b.jsonl", SessionBegan(4.0, "t", branched_from=point), *cell(1, "b"))
    timeline = read_all(followed(journal))
    assert cells(timeline) == ["b"]
    assert said(timeline)[0].startswith("What came before the branch is no longer there")


def test_journals_that_are_branches_of_each_other_end(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write(first, SessionBegan(1.0, "s", branched_from=BranchPoint("t", str(second), 10_000)), *cell(1, "a"))
    write(second, SessionBegan(1.0, "t", branched_from=BranchPoint("s", str(first), 10_000)), *cell(1, "b"))
    assert cells(read_all(followed(first))) == ["b", "a"]


def test_the_next_life_comes_when_the_one_before_has_been_read(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", BEGAN, *cell(1, "a"))
    second = write(tmp_path / "b.jsonl", BEGAN, *cell(1, "b"))
    following = followed(first, second, first)
    assert cells(read_all(following)) == ["a (gone)", "b"]
    assert following.journal == second


def test_a_journal_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    following = followed(tmp_path / "a.jsonl")
    assert not read_all(following).items
    write(tmp_path / "a.jsonl", BEGAN, *cell(1, "a"))
    assert cells(read_all(following)) == ["a"]


def test_a_cell_is_over_when_nobody_writes_to_its_journal_any_more(tmp_path: Path) -> None:
    journal = write(tmp_path / "a.jsonl", BEGAN, CellBegan(2.0, 1, "a"))
    writer = os.open(journal, os.O_WRONLY)
    fcntl.flock(writer, fcntl.LOCK_EX)
    following = followed(journal)
    following.quiet_seconds = 0.0
    (item,) = cell_items(read_all(following))
    assert not following.poll()
    assert item.running
    assert following.is_written
    os.close(writer)
    assert following.poll()
    assert not item.running
    assert not following.is_written
    assert not following.poll()


def test_a_large_journal_is_read_in_steps(tmp_path: Path) -> None:
    text = Stream("stdout", "x" * 100_000)
    journal = tmp_path / "a.jsonl"
    write(journal, BEGAN, CellBegan(2.0, 1, "a"), *[Output(2.0, 1, text)] * 100, CellEnded(3.0, 1, position=1))
    tail = JournalTail(journal, skip=OUTPUT)
    steps = 0
    while tail.read(seconds=0.0) or tail.offset < journal.stat().st_size:
        steps += 1
    assert steps > 10
    assert cells(read_all(followed(journal))) == ["a"]
