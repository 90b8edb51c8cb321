"""The action `export`: the way to the present state, as a notebook."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pisces.kernels.base import Revival
from pisces.kernels.memory import MemoryBackend
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import call, scripted_runtime
from tests.unit.tools.test_session_tool import ask, told


def cells_in(notebook: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return cells


async def test_the_notebook_has_the_cells_that_lead_to_the_present_state(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime:
        for code in ("x = 1", "x = 2"):
            await call(runtime, code)
        await ask(runtime, "undo")
        await call(runtime, "x")
        result = await ask(runtime, "export", path="way.ipynb")
    assert result.text == f"Wrote 2 cells of session 'default' to {told(result).path}."
    assert told(result).cells == 2
    cells = cells_in(tmp_path / "way.ipynb")
    assert [cell["source"] for cell in cells] == ["x = 1", "x"]
    assert cells[1]["outputs"][0]["data"] == {"text/plain": "1"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("way.txt", "the name of a notebook ends with .ipynb, got 'way.txt'"),
        ("nowhere/way.ipynb", "there is no folder"),
        ("folder.ipynb", "is a folder"),
        ("\0.ipynb", "cannot be used"),
    ],
)
async def test_a_path_that_cannot_be_a_notebook_is_refused(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "folder.ipynb").mkdir()
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1")
        result = await ask(runtime, "export", path=path)
    assert result.is_error
    assert message in result.text
    assert [name for name in os.listdir(tmp_path) if name.endswith(".ipynb")] == ["folder.ipynb"]


async def test_a_session_without_cells_gives_an_empty_notebook(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x = 1")
        await ask(runtime, "undo")
        result = await ask(runtime, "export", path="empty.ipynb")
    assert result.text.startswith("Wrote 0 cells of session 'default' to ")
    assert cells_in(tmp_path / "empty.ipynb") == []


async def test_a_session_that_was_closed_is_exported_from_its_journal(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        for code in ("x = 1", "x = 2"):
            await call(runtime, code, session="s")
            await ask(runtime, "close", session="s")
        result = await ask(runtime, "export", session="s", path="past.ipynb")
    assert (result.is_error, told(result).from_journal, told(result).cells) == (False, True, 1)
    assert result.text.startswith(
        f"Wrote 1 cell of session 's' to {told(result).path}, from its journal; the session itself is gone. It began "
    )
    assert result.text.endswith(f" in {tmp_path}.")
    assert [cell["source"] for cell in cells_in(tmp_path / "past.ipynb")] == ["x = 2"]


async def test_a_session_that_is_there_again_is_meant_before_one_of_the_past(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1")
        await ask(runtime, "close")
        await call(runtime, "x = 2")
        result = await ask(runtime, "export", path="now.ipynb")
    assert not told(result).from_journal
    assert [cell["source"] for cell in cells_in(tmp_path / "now.ipynb")] == ["x = 2"]


async def test_a_session_of_another_process_is_not_said_to_be_gone(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as other, scripted_runtime(remembering, tmp_path) as runtime:
        await call(other, "x = 1", session="s")
        result = await ask(runtime, "export", session="s", path="theirs.ipynb")
    assert "from its journal; the session itself is kept by another process." in result.text
    assert [cell["source"] for cell in cells_in(tmp_path / "theirs.ipynb")] == ["x = 1"]


async def test_the_interpreter_says_which_past_session_is_meant(tmp_path: Path) -> None:
    other = tmp_path / "other-python"
    other.symlink_to(sys.executable)
    async with scripted_runtime(remembering, tmp_path) as runtime:
        for code, kernel in (("x = 1", str(other)), ("x = 2", sys.executable)):
            await call(runtime, code, kernel=kernel)
            await ask(runtime, "close", kernel=kernel)
        await ask(runtime, "export", kernel="./other-python", path="other.ipynb")
        nobody = await ask(runtime, "export", kernel=str(tmp_path / "none"), path="none.ipynb")
    assert [cell["source"] for cell in cells_in(tmp_path / "other.ipynb")] == ["x = 1"]
    assert "There is no session 'default' with the interpreter" in nobody.text


async def test_of_what_never_was_nothing_is_exported(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1")
        result = await ask(runtime, "export", session="nobody", path="n.ipynb")
    assert result.is_error
    assert "There is no session 'nobody'. Sessions: default" in result.text
    assert not (tmp_path / "n.ipynb").exists()
