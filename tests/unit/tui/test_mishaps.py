"""Errors that nobody foresaw: a sentence for the person, the traceback in a bounded log, no secret in either."""

from pathlib import Path

import pytest

from pisces.settings.paths import Paths
from pisces.tui import mishaps
from pisces.tui.mishaps import told


def failed(text: str) -> Exception:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_the_person_is_told_and_the_log_has_the_traceback(tmp_path: Path) -> None:
    said = told(failed("seven"), Paths(tmp_path), {})
    log = tmp_path / "agent" / "ui.log"
    assert said.startswith("Pisces itself went wrong: ValueError: seven\n")
    assert str(log) in said
    assert "Traceback" not in said
    assert "Traceback (most recent call last)" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o777 == 0o600


def test_no_secret_is_told_or_kept(tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    said = told(failed(f"key {secret}"), Paths(tmp_path), {"MY_API_KEY": secret})
    assert secret not in said
    assert secret not in (tmp_path / "agent" / "ui.log").read_text(encoding="utf-8")


def test_the_log_is_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mishaps, "_ROLL_OVER", 2000)
    for _ in range(100):
        told(failed("x" * 100), Paths(tmp_path), {})
    sizes = [file.stat().st_size for file in (tmp_path / "agent").iterdir()]
    assert len(sizes) == 2
    assert max(sizes) < 2000 * 5


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("a file in the place of the folder", encoding="utf-8")
    assert "No log of it could be written" in told(failed("seven"), Paths(tmp_path), {})
