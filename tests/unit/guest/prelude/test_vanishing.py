"""Files that go away while a helper is at work are no error of it."""

import os
from pathlib import Path

from pisces.guest.prelude.walking import changed


def test_what_went_away_was_last_changed_at_no_time(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with os.scandir(tmp_path) as entries:
        (entry,) = entries
    (tmp_path / "a").unlink()
    assert changed(entry) == 0
