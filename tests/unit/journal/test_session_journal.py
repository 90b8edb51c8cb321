"""What a session tells its journal, and when it is in the file."""

import os
import time
from pathlib import Path

import pytest

from pisces.journal.entries import (
    AnyEntry,
    Branched,
    BranchPoint,
    CellBegan,
    CellEnded,
    CheckpointNamed,
    Output,
    Reset,
    SessionBegan,
    SessionClosed,
    StateChanged,
    WentBack,
)
from pisces.journal.export import notebook
from pisces.journal.reader import read_journal, read_with_origins
from pisces.journal.session_journal import Journals, SessionJournal
from pisces.model.cells import CellRecord
from pisces.model.events import Display, Done, ProcessExit, Restore, Stream
from tests.fakes.drive import eventually


def new(root: Path | None, session: str = "s") -> SessionJournal:
    return Journals(root).new(session, cwd="/work", interpreter="python", backend="memory")


def entries_of(journal: SessionJournal) -> tuple[AnyEntry, ...]:
    assert journal.path is not None
    return read_journal(journal.path).entries


def begin(journal: SessionJournal, code: str = "x") -> None:
    journal.begin_cell(CellRecord(index=0, code=code, title="t"))


def end(journal: SessionJournal, position: int = 1) -> None:
    done = Done("ok", execution_count=4)
    journal.end_cell(done, outcome="ok", began=True, exit_code=0, position=position, artifact_id=None)


async def run(journal: SessionJournal, code: str, position: int) -> None:
    begin(journal, code)
    end(journal, position)


async def test_a_cell_is_in_the_file_before_it_runs_and_all_of_it_when_it_ends(tmp_path: Path) -> None:
    journal = new(tmp_path)
    journal.begin_call()
    begin(journal, "1 + 1")
    first, began = entries_of(journal)
    assert isinstance(first, SessionBegan)
    assert (first.session, first.cwd, first.interpreter, first.backend) == ("s", "/work", "python", "memory")
    assert abs(first.time - time.time()) < 60
    assert isinstance(began, CellBegan)
    assert (began.cell, began.call, began.index, began.title, began.code) == (1, 1, 0, "t", "1 + 1")
    journal.take(Stream("stdout", "a"))
    journal.take(Stream("stdout", "b"))
    journal.end_cell(
        Done("crashed", process_exit=ProcessExit(signal=11)),
        outcome="crashed", began=True, exit_code=139, position=3, artifact_id="5",
    )  # fmt: skip
    output, ended = entries_of(journal)[2:]
    assert isinstance(output, Output)
    assert output.event == Stream("stdout", "ab")
    assert isinstance(ended, CellEnded)
    assert (ended.outcome, ended.died, ended.exit_code, ended.position) == ("crashed", True, 139, 3)
    assert (ended.process_exit, ended.artifact_id) == (ProcessExit(signal=11), "5")
    journal.close()


async def test_output_is_in_the_file_soon_although_nothing_more_comes(tmp_path: Path) -> None:
    journal = new(tmp_path)
    begin(journal)
    journal.take(Stream("stdout", "now it computes for hours"))
    assert len(entries_of(journal)) == 2
    await eventually(lambda: len(entries_of(journal)) == 3)
    end(journal)
    journal.close()


async def test_much_output_does_not_wait_for_the_clock(tmp_path: Path) -> None:
    journal = new(tmp_path)
    begin(journal)
    journal.take(Display({"image/png": "A" * (2 << 20)}))
    assert isinstance(entries_of(journal)[-1], Output)
    end(journal)
    journal.close()


async def test_what_becomes_of_the_state_is_told(tmp_path: Path, no_descriptor_is_left: None) -> None:
    journal = new(tmp_path)
    await run(journal, "a", 1)
    journal.checkpoint_named("x", 1)
    journal.went_back("restore", 1, "x")
    journal.state_changed("restored", "It is back.", position=1, restore=Restore("by_value", 2, ("t",)))
    journal.reset()
    journal.close("idle")
    journal.close()
    told = entries_of(journal)[3:]
    assert [type(entry) for entry in told] == [CheckpointNamed, WentBack, StateChanged, Reset, SessionClosed]
    assert isinstance(told[2], StateChanged)
    assert told[2].restore == Restore("by_value", 2, ("t",))
    assert told[4] == SessionClosed(told[4].time, "idle")


async def test_a_session_in_which_nothing_happened_leaves_no_file(tmp_path: Path) -> None:
    journal = new(tmp_path)
    journal.reset()
    journal.close()
    assert os.listdir(tmp_path) == []


async def test_a_branch_knows_where_it_left_its_origin(tmp_path: Path) -> None:
    origin, branch = new(tmp_path, "origin"), new(tmp_path, "branch")
    await run(origin, "a", 1)
    branch.branch_from(origin, 1)
    await run(origin, "b", 2)
    await run(branch, "c", 2)
    branched = next(entry for entry in entries_of(origin) if isinstance(entry, Branched))
    assert (branched.session, branched.journal, branched.position) == ("branch", str(branch.path), 1)
    first = entries_of(branch)[0]
    assert isinstance(first, SessionBegan)
    assert isinstance(first.branched_from, BranchPoint)
    assert first.branched_from.session == "origin"
    assert branch.path is not None
    made = notebook(read_with_origins(branch.path).entries)
    assert [cell["source"] for cell in made["cells"]] == ["a", "c"]
    for journal in (origin, branch):
        journal.close()


async def test_a_branch_of_a_session_that_has_not_begun_can_be_read(tmp_path: Path) -> None:
    origin, branch = new(tmp_path, "origin"), new(tmp_path, "branch")
    branch.branch_from(origin, 0)
    assert branch.path is not None
    assert [type(entry) for entry in read_with_origins(branch.path).entries] == [SessionBegan, SessionBegan]
    for journal in (origin, branch):
        journal.close()


async def test_trouble_with_the_file_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    journal = new(tmp_path / "file")
    await run(journal, "a", 1)
    await run(journal, "b", 2)
    (trouble,) = journal.take_trouble()
    assert trouble.startswith("The journal of this session is incomplete: ")
    await run(journal, "c", 3)
    assert journal.take_trouble() == []
    journal.close()


async def test_the_first_line_comes_as_soon_as_the_folder_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    journal = new(tmp_path / "file")
    await run(journal, "a", 1)
    (tmp_path / "file").unlink()
    await run(journal, "b", 2)
    assert [type(entry) for entry in entries_of(journal)] == [SessionBegan, CellBegan, CellEnded]
    journal.close()


async def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    journal = new(None)
    begin(journal)
    journal.take(Stream("stdout", "x"))
    end(journal)
    new(None).branch_from(journal, 1)
    journal.close()
    assert (journal.path, journal.environment, journal.take_trouble()) == (None, {}, [])
    assert os.listdir(tmp_path) == []


async def test_kernels_are_told_where_the_file_is(tmp_path: Path) -> None:
    journal = new(tmp_path)
    assert journal.environment == {"PI_SESSION_FILE": str(journal.path)}
