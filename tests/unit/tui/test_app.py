"""What goes wrong in the app, and how often it is told."""

from pathlib import Path

import pytest

from pisces.tui.app import PiscesApp
from pisces.tui.options import UiOptions


async def test_what_goes_wrong_at_every_tick_is_told_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    app = PiscesApp(UiOptions(cwd=str(tmp_path)))
    async with app.run_test(notifications=True) as pilot:
        for _ in range(20):
            app.tell_mishap(ValueError("the same"))
        app.tell_mishap(ValueError("another"))
        await pilot.pause()
        assert sorted("another" in note.message for note in app._notifications) == [False, True]
    assert (app.desk.paths.agent / "ui.log").read_text("utf-8").count("ValueError: the same") == 1
