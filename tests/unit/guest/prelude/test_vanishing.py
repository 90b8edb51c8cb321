"""What goes away or is stopped while a helper is at work: the rest is done, and all that was done is told."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pisces.guest.prelude.names import rsed
from pisces.guest.prelude.walking import changed


def test_what_went_away_was_last_changed_at_no_time(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with os.scandir(tmp_path) as entries:
        (entry,) = entries
    (tmp_path / "a").unlink()
    assert changed(entry) == 0


def test_a_file_that_goes_away_before_its_turn_is_no_failure(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("x", encoding="utf-8")

    def replaced(match: re.Match[str]) -> str:
        (tmp_path / "b").unlink(missing_ok=True)
        return "y"

    assert rsed("x", replaced, tmp_path) == 2  # type: ignore[arg-type]  # A function is taken, as `re.sub` takes one.
    assert [(tmp_path / name).read_text(encoding="utf-8") for name in ("a", "c")] == ["y", "y"]


def test_what_was_replaced_before_an_interrupt_is_told(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    turns = iter("y")

    def replaced(match: re.Match[str]) -> str:
        for turn in turns:
            return turn
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rsed("x", replaced, tmp_path)  # type: ignore[arg-type]  # As above.
    first = [{"file": str(tmp_path / "a"), "count": 1}]
    told = {"count": 1, "files": 1, "changed": first, "error": "KeyboardInterrupt"}
    assert events == [{"op": "rsed", "pattern": "x", "path": str(tmp_path), **told}]
