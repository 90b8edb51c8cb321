"""The folder of all journals: names, the list of past sessions, and when one is deleted."""

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from pisces.journal.entries import SessionBegan, SessionClosed
from pisces.journal.folder import JournalInfo, journal_path, list_journals, newest_journal, prune_journals
from pisces.journal.line import encode_line
from pisces.journal.writer import JournalFile
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
    for path in (older, newer):
        os.utime(path, (30.0, 30.0))
    journal_path(tmp_path, "stranger").mkdir()
    both = [
        JournalInfo("newer/", newer, 20.0, None, "not_closed", 30.0, 0),
        JournalInfo("older", older, 10.0, 12.0, "closed", 30.0, 2, "/w"),
    ]
    assert list_journals(tmp_path) == both
    assert list_journals(tmp_path, limit=1) == both[:1]


def test_a_session_is_live_as_long_as_its_journal_is_open(tmp_path: Path, no_descriptor_is_left: None) -> None:
    file = JournalFile(journal_path(tmp_path, "s"))
    file.append(encode_line(SessionBegan(1.0, "s")))
    assert [info.state for info in list_journals(tmp_path)] == ["live"]
    file.close()
    assert [info.state for info in list_journals(tmp_path)] == ["not_closed"]


def test_where_files_cannot_be_locked_it_is_not_known_whether_a_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    file = JournalFile(journal_path(tmp_path, "s"))
    assert file.append(encode_line(SessionBegan(1.0, "s")))
    assert [info.state for info in list_journals(tmp_path)] == ["unknown"]
    file.close()


def test_the_newest_journal_of_a_name_is_found_that_of_the_folder_at_hand_first(tmp_path: Path) -> None:
    def lived(session: str, began: float, cwd: str, interpreter: str = "python") -> Path:
        path = journal_path(tmp_path, session)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(encode_line(SessionBegan(began, session, cwd, interpreter)))
        return path

    def found(session: str, **narrower: Any) -> Path | None:
        info = newest_journal(tmp_path, session, **narrower)
        return None if info is None else info.path

    lived("s", 1.0, "/a")
    here, other, newest = lived("s", 2.0, "/a"), lived("s", 3.0, "/b", "other"), lived("s", 4.0, "/b")
    alike = [lived("n" * 300 + last, 5.0, "/c") for last in "xy"]
    assert found("s") == found("s", cwd="/elsewhere") == newest
    assert found("s", cwd="/a") == here
    assert found("s", cwd="/a", interpreters=["python-x", "other"]) == other
    assert [found("n" * 300 + last) for last in "xy"] == alike
    assert found("nobody") is found("s", interpreters=["none"]) is None


def test_a_folder_that_is_not_there_has_no_journals(tmp_path: Path) -> None:
    assert list_journals(tmp_path / "none") == []
    assert prune_journals(tmp_path / "none", 1) == 0


def test_journals_are_deleted_when_they_were_kept_for_long_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, lonely = journal_path(tmp_path, "s"), journal_path(tmp_path, "s"), journal_path(tmp_path, "lonely")
    now = time.time()
    for path, days in ((old, 2.5), (new, 0.5), (lonely, 2.5)):
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (now - days * 86_400,) * 2)
    assert prune_journals(tmp_path, 2) == 0
    monkeypatch.setattr("time.time", lambda: now + 1.1 * 86_400)
    assert prune_journals(tmp_path, 2) == 2
    assert list(tmp_path.glob("**/*")) == [new.parent, new]
