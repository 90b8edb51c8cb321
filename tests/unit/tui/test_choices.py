"""What a person chose is found again, and a file that is damaged or cannot be written stops nobody."""

from pathlib import Path

import pytest

from pisces.settings.paths import Paths
from pisces.tui.choices import Choices, chosen, remember


def test_a_choice_is_found_again_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "home")
    assert chosen(paths) == Choices()
    assert remember(paths, Choices(theme="light")) == ""
    assert chosen(paths) == Choices(theme="light")
    assert [file.stat().st_mode & 0o777 for file in paths.agent.iterdir()] == [0o600]


@pytest.mark.parametrize("damage", [b"", b"{", b'{"theme": "pink"}', b"\xff", b"[]"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    paths = Paths(tmp_path)
    paths.agent.mkdir()
    (paths.agent / "ui.json").write_bytes(damage)
    assert chosen(paths) == Choices()
    remember(paths, Choices(theme="light"))
    assert chosen(paths) == Choices(theme="light")


def test_a_choice_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("a file in the place of the folder", encoding="utf-8")
    assert "will not be found the next time" in remember(Paths(tmp_path), Choices())
