"""What is told of cells of the past."""

from pathlib import Path

import pytest

from pisces.journal.entries import CellBegan, CellEnded, Output
from pisces.model.events import Display
from pisces.tui.desk import body
from pisces.tui.desk.following import Following
from pisces.tui.plain.watching import _told
from tests.unit.journal.journaling import BEGAN
from tests.unit.tui.desk.journals import cell_items, read_all, write


def test_a_cell_is_told_to_its_end_however_slowly_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [Output(2.0, 1, Display({"text/plain": f"part {number} " + "x" * 99_000})) for number in range(9)]
    journal = write(tmp_path / "a", BEGAN, CellBegan(2.0, 1, "x"), *said, CellEnded(3.0, 1))
    monkeypatch.setattr(body, "_READ_SECONDS", 0.0)
    following = Following()
    following.go_on_with(journal)
    (item,) = cell_items(read_all(following))
    told = _told(item, expanded=True)
    assert "part 0" in told
    assert "part 8" in told
