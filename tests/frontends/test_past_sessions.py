"""`pisces session past`, and the export of sessions that are gone: from their journals, without a host."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pisces.journal.entries import SessionBegan, SessionClosed
from pisces.journal.folder import journal_path
from pisces.journal.line import encode_line
from pisces.settings.paths import Paths
from tests.fakes.hosts import end_host, files, kill_host
from tests.frontends.command import Command
from tests.unit.journal.journaling import cell


@pytest.fixture
def pisces(plain_python: str) -> Iterator[Command]:
    """`pisces`, whose background host is ended when the test is."""
    command = Command(plain_python)
    yield command
    end_host(command)


def lived(session: str, began: float, *codes: str) -> Path:
    """A session of the past that was closed after it had run these cells."""
    path = journal_path(Paths.locate(os.environ).journals, session)
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [entry for number, code in enumerate(codes, 1) for entry in cell(number, code)]
    lines = [SessionBegan(began, session, "/w"), *cells, SessionClosed(began + 60)]
    path.write_bytes(b"".join(map(encode_line, lines)))
    return path


def listed(pisces: Command, *options: str) -> list[dict[str, Any]]:
    sessions: list[dict[str, Any]] = json.loads(pisces("session", "past", "--json", *options).stdout)["sessions"]
    return sessions


def sources(notebook: Path) -> list[str]:
    return [cell["source"] for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]]


def test_past_sessions_are_listed_without_a_host(pisces: Command) -> None:
    nothing = pisces("session", "past")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert "There are no past sessions" in nothing.stderr
    older, newer = lived("older", 0.0, "a", "b"), lived("newer", 86_400.0, "c")
    assert pisces("session", "past").stdout.splitlines() == [
        f"newer: 1 cell; began 1970-01-02T00:00:00+00:00; ended 1970-01-02T00:01:00+00:00; in /w; {newer}",
        f"older: 2 cells; began 1970-01-01T00:00:00+00:00; ended 1970-01-01T00:01:00+00:00; in /w; {older}",
    ]
    assert files().record() is None


def test_the_newest_fifty_are_listed_unless_all_are_wanted(pisces: Command) -> None:
    for number in range(51):
        lived(f"s{number}", float(number))
    some = pisces("session", "past")
    assert [line.partition(":")[0] for line in some.stdout.splitlines()] == [f"s{n}" for n in range(50, 0, -1)]
    assert "--all shows the others too" in some.stderr
    assert json.loads(pisces("session", "past", "--json").stdout)["more"] is True
    every = pisces("session", "past", "--all")
    assert (len(every.stdout.splitlines()), every.stderr) == (51, "")


def test_a_list_of_the_past_tells_what_goes_on_what_ended_and_what_was_not_closed(pisces: Command) -> None:
    pisces("run", "--session", "closed", "-c", "1")
    pisces("session", "close", "closed")
    pisces("run", "--session", "kept", "-c", "1")
    assert [(info["name"], info["state"]) for info in listed(pisces)] == [("kept", "live"), ("closed", "closed")]
    assert "kept: 1 cell; " in pisces("session", "past").stdout
    kill_host()
    kept = listed(pisces)[0]
    assert (kept["state"], kept["ended"], kept["folder"]) == ("not_closed", None, os.getcwd())
    assert f"; not closed, last written {kept['last_written']}; in " in pisces("session", "past").stdout


@pytest.mark.parametrize("host_runs", [True, False])
def test_a_session_that_is_gone_is_exported_from_its_newest_journal(
    pisces: Command, tmp_path: Path, *, host_runs: bool
) -> None:
    lived("s", 0.0, "older")
    lived("s", 86_400.0, "6 * 7")
    if host_runs:
        pisces("run", "--session", "other", "-c", "1")
    done = pisces("session", "export", "s", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "from its journal; the session itself is gone. It began 1970-01-02T00:00:00+00:00 in /w." in done.stdout
    assert sources(tmp_path / "s.ipynb") == ["6 * 7"]
    whole = json.loads(pisces("session", "export", "s", str(tmp_path / "t.ipynb"), "--json").stdout)
    assert whole["details"]["from_journal"] is True
    assert (files().record() is not None) == host_runs


def test_an_export_of_what_never_was_is_refused_with_where_to_look(pisces: Command, tmp_path: Path) -> None:
    done = pisces("session", "export", "nobody", cwd=tmp_path)
    assert done.returncode == 1
    assert "There is no session 'nobody', and no journal of one" in done.stderr
    assert "pisces session past" in done.stderr
    lived("s", 0.0, "1")
    assert pisces("session", "export", "s", "notes.txt", cwd=tmp_path).returncode == 2
    assert list(tmp_path.glob("*.*")) == []
