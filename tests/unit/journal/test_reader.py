"""Reading journals: whole, damaged, growing, and of branches."""

from pathlib import Path

import pytest

from pisces.errors import JournalError
from pisces.journal.entries import AnyEntry, BranchPoint, CellBegan, Reset, SessionBegan, SessionClosed
from pisces.journal.line import encode_line
from pisces.journal.reader import read_journal, read_with_origins
from tests.unit.journal.journaling import BEGAN, cell


def write(path: Path, *parts: AnyEntry | bytes) -> int:
    data = b"".join(part if isinstance(part, bytes) else encode_line(part) for part in parts)
    with path.open("ab") as file:
        file.write(data)
        return file.tell()


def test_a_torn_last_line_is_passed_over_until_it_is_whole(tmp_path: Path) -> None:
    journal = tmp_path / "j"
    line = encode_line(Reset(2.0))
    write(journal, BEGAN, line[:-4])
    reading = read_journal(journal)
    assert (reading.entries, reading.torn) == ((BEGAN,), 0)
    write(journal, line[-4:])
    assert read_journal(journal).entries == (BEGAN, Reset(2.0))


def test_a_torn_line_between_good_ones_is_skipped_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "j", BEGAN, b'{"type":"Out\n', b"\xff\xfe\n", Reset(2.0))
    reading = read_journal(tmp_path / "j")
    assert (reading.entries, reading.torn, reading.unknown) == ((BEGAN, Reset(2.0)), 2, 0)


def test_what_a_newer_version_wrote_is_skipped_and_counted(tmp_path: Path) -> None:
    newer = b'{"type":"Dreamt","time":1.0}\n{"type":"Output","time":1,"cell":1,"event":{"type":"Smell"}}\n'
    write(tmp_path / "j", BEGAN, newer, b'{"type":"Reset","time":2.0,"mood":"good"}\n')
    reading = read_journal(tmp_path / "j")
    assert (reading.entries, reading.torn, reading.unknown) == ((BEGAN, Reset(2.0)), 0, 2)


def test_a_journal_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"gone\.jsonl cannot be read: No such file") as caught:
        read_journal(tmp_path / "gone.jsonl")
    assert "keepDays" in caught.value.hint


def test_a_branch_has_the_past_of_its_origins_up_to_where_it_left_them(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("1", "2", "3"))
    cut = write(first, BEGAN, *cell(1, "a"))
    write(first, *cell(2, "not of the branch"))
    branch = SessionBegan(5.0, "b", branched_from=BranchPoint("s", str(first), cut))
    cut = write(second, branch, *cell(1, "b"))
    write(second, SessionClosed(9.0))
    write(third, SessionBegan(6.0, "c", branched_from=BranchPoint("b", str(second), cut)), *cell(1, "c"))
    reading = read_with_origins(third)
    assert [entry.code for entry in reading.entries if isinstance(entry, CellBegan)] == ["a", "b", "c"]
    assert SessionClosed(9.0) not in reading.entries
    assert reading.missing == ()


def test_an_origin_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    write(tmp_path / "j", SessionBegan(5.0, "b", branched_from=BranchPoint("s", gone, 10)), *cell(1, "own"))
    reading = read_with_origins(tmp_path / "j")
    assert [entry.code for entry in reading.entries if isinstance(entry, CellBegan)] == ["own"]
    assert reading.missing == (gone,)


def test_branches_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    journal = tmp_path / "j"
    write(journal, SessionBegan(5.0, "b", branched_from=BranchPoint("b", str(journal), 10_000)))
    assert len(read_with_origins(journal).entries) == 101
