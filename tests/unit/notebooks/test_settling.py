"""A notebook that is met while it is being saved in place."""

import os
from pathlib import Path

import pytest

from pisces.errors import InvalidJson
from pisces.notebooks.document import EMPTY
from pisces.notebooks.notebook_file import NotebookFile
from pisces.notebooks.readable import read_notebook


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """What there is of a notebook while somebody writes it."""
    path = tmp_path / "a.ipynb"
    path.write_bytes(EMPTY[:20])
    return path


@pytest.mark.parametrize("how", ["read", "change", "look"])
def test_half_a_notebook_is_waited_for(half: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The writer comes to its end in the first pause, in place of a second process that would need to be timed.
    monkeypatch.setattr("pisces.notebooks.settling.time.sleep", lambda _seconds: half.write_bytes(EMPTY))
    file = NotebookFile(half, "a.ipynb")
    if how == "read":
        assert file.read().cells == ()
    elif how == "change":
        assert len(file.change(lambda document: document.with_new(0, "code", "x")).cells) == 1
    else:
        assert read_notebook(half, "a.ipynb")[0].cells == ()


def test_a_notebook_that_stays_broken_is_told_as_such(half: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("pisces.notebooks.settling.time.sleep", pauses.append)
    with pytest.raises(InvalidJson, match=r"Invalid JSON in notebook: a\.ipynb"):
        NotebookFile(half, "a.ipynb").read()
    assert 0 < sum(pauses) < 0.6


def test_a_notebook_that_has_long_been_broken_is_told_at_once(half: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(half, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr("pisces.notebooks.settling.time.sleep", lambda _seconds: pytest.fail("nothing is waited for"))
    with pytest.raises(InvalidJson):
        NotebookFile(half, "a.ipynb").read()
