"""The folder of all journals: names, the list of past sessions, and when one is deleted."""

import os
import time
from pathlib import Path

import pytest

from pisces.journal.entries import SessionBegan, SessionClosed
from pisces.journal.folder import JournalInfo, journal_path, list_journals, prune_journals
from pisces.journal.line import encode_line
from tests.unit.journal.journaling import cell


@pytest.mark.parametrize("session", ["../../etc", "/", "..", "a/b", "", "x\0y", "n" * 300])
def test_no_name_of_a_session_leads_out_of_the_folder(tmp_path: Path, session: str) -> None:
    path = journal_path(tmp_path, session)
    assert path.parent.parent == tmp_path
    assert path.parent.name not in {"", ".", ".."}
    assert len(path.parent.name) < 100


def test_two_lives_of_a_session_have_two_files(tmp_path: Path) -> None:
    assert len({journal_path(tmp_path, "s") for _ in range(20)}) == 20


def test_past_sessions_are_listed_newest_first(tmp_path: Path) -> None:
    older, newer, stranger = (journal_path(tmp_path, name) for name in ("older", "newer", "stranger"))
    for path in (older, newer, stranger):
        path.parent.mkdir()
    entries = [SessionBegan(10.0, "older", "/w"), *cell(1, "a"), *cell(2, "b"), SessionClosed(12.0)]
    older.write_bytes(b"".join(map(encode_line, entries)))
    newer.write_bytes(encode_line(SessionBegan(20.0, "newer/")) + b'{"type":"CellBe')
    stranger.write_text("not a journal\n", encoding="utf-8")
    assert list_journals(tmp_path) == [
        JournalInfo("newer/", newer, 20.0, None, 0),
        JournalInfo("older", older, 10.0, 12.0, 2, "/w"),
    ]


def test_a_folder_that_is_not_there_has_no_journals(tmp_path: Path) -> None:
    assert list_journals(tmp_path / "none") == []
    assert prune_journals(tmp_path / "none", 1) == 0


def test_journals_are_deleted_when_they_were_kept_for_long_enough(tmp_path: Path) -> None:
    old, new, lonely = journal_path(tmp_path, "s"), journal_path(tmp_path, "s"), journal_path(tmp_path, "lonely")
    for path, days in ((old, 2.5), (new, 1.5), (lonely, 2.5)):
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (time.time() - days * 86_400,) * 2)
    assert prune_journals(tmp_path, 2) == 2
    assert list(tmp_path.glob("**/*")) == [new.parent, new]
