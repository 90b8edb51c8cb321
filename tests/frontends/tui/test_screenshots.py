"""The pictures of the documentation can be made again, and show nothing of the machine that made them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE
from tests.source_tree import ROOT


@pytest.mark.heavy
def test_a_picture_is_made_of_the_real_ui(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.screenshots", "--to", str(tmp_path), "errors"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    svg = (tmp_path / "errors.svg").read_text("utf-8")
    assert "STATE&#160;RESTORED" in svg
    assert "https:" not in svg
    assert str(ROOT) not in svg


def test_the_pictures_that_are_there_show_nothing_of_a_machine() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.svg"))
    assert pictures
    for picture in pictures:
        svg = picture.read_text("utf-8")
        assert len(svg) <= 300_000, picture.name
        assert not re.search("https:|/(home|root|tmp|Users)/|site-packages", svg), picture.name
