"""What cannot be done is told in fixed words, and nothing is written then."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pisces.runtime import Runtime
from tests.fakes.notebooks import ask, code, edit_details, markdown, sources_in, written
from tests.fakes.runtimes import scripted_runtime


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    """Nothing gets as far as a kernel here."""
    async with scripted_runtime({}, tmp_path) as made:
        yield made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "a.ipynb", markdown("# hi"), code("x"))


def state(folder: Path) -> dict[str, Any]:
    """All files there: their bytes and times."""
    return {
        name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
        for name in sorted(os.listdir(folder))
        if (path := folder / name).is_file()
    }


Call = tuple[str, dict[str, Any]]
REFUSED: dict[str, tuple[Call, str]] = {
    "no content to edit": (("edit", {"cell_index": 0}), "Content is required for edit action"),
    "no content to insert": (("insert", {"cell_index": 0}), "Content is required for insert action"),
    "an unknown action": (
        ("replace", {"cell_index": 0}),
        "Invalid action: replace\nActions: edit, insert, delete, read, move, clear, run, run_all, run_until.",
    ),
    "insert beyond the end": (
        ("insert", {"cell_index": 3, "content": ""}),
        "Cell index 3 out of range for insert (0-2) in a.ipynb",
    ),
    "insert before the start": (
        ("insert", {"cell_index": -1, "content": ""}),
        "Cell index -1 out of range for insert (0-2) in a.ipynb",
    ),
    "edit beyond the end": (
        ("edit", {"cell_index": 2, "content": ""}),
        "Cell index 2 out of range (0-1) in a.ipynb",
    ),
    "delete before the start": (("delete", {"cell_index": -1}), "Cell index -1 out of range (0-1) in a.ipynb"),
    "read beyond the end": (("read", {"cell_index": 2}), "Cell index 2 out of range (0-1) in a.ipynb"),
    "a range beyond the end": (
        ("clear", {"cell_index": 0, "last_index": 2}),
        "Cell index 2 out of range (0-1) in a.ipynb",
    ),
    "a range backwards": (
        ("clear", {"cell_index": 1, "last_index": 0}),
        "The last cell, 0, comes before the first, 1: a.ipynb",
    ),
    "move from nowhere": (("move", {"cell_index": 5, "to_index": 0}), "Cell index 5 out of range (0-1) in a.ipynb"),
    "move to nowhere": (("move", {"cell_index": 0, "to_index": 2}), "Cell index 2 out of range (0-1) in a.ipynb"),
    "run beyond the end": (("run", {"cell_index": 2}), "Cell index 2 out of range (0-1) in a.ipynb"),
    "run until beyond the end": (("run_until", {"cell_index": 9}), "Cell index 9 out of range (0-1) in a.ipynb"),
    "run a cell of text": (
        ("run", {"cell_index": 0}),
        "Cell 0 is a markdown cell: only code cells can be run in a.ipynb",
    ),
    "an id that no cell has": (
        ("edit", {"cell_id": "zz", "content": ""}),
        "No cell has the id 'zz' in a.ipynb\n`read` shows the ids there are.",
    ),
    "an id that no cell has, to insert after": (
        ("insert", {"cell_id": "zz", "content": ""}),
        "No cell has the id 'zz' in a.ipynb\n`read` shows the ids there are.",
    ),
    "no cell named": (
        ("delete", {}),
        "Which cell? The action `delete` needs `cell_index`, which counts from 0, or `cell_id`",
    ),
    "a cell named twice": (
        ("delete", {"cell_index": 0, "cell_id": "c0"}),
        "Give either `cell_index` or `cell_id`, not both",
    ),
    "a range without a start": (
        ("read", {"last_index": 1}),
        "`last_index` ends a range that begins with `cell_index`, which is missing",
    ),
    "a move without a goal": (("move", {"cell_index": 0}), "`to_index` is missing: where is the cell to be?"),
}


@pytest.mark.parametrize("action", ["read", "delete", "run"])
@pytest.mark.parametrize("name", ["a\0.ipynb", "a\ud800.ipynb"], ids=["NUL", "half a pair"])
async def test_a_name_that_no_file_can_have_is_told(runtime: Runtime, name: str, action: str) -> None:
    result = await ask(runtime, action, name, cell_index=0)
    assert (result.text.partition(":")[0], result.is_error) == ("Error", True)
    assert "No file can have this name: " in result.text


@pytest.mark.parametrize("broken", [{"cell_type": "of the future"}, {"source": 1}], ids=["type", "source"])
async def test_a_cell_that_no_notebook_can_have_is_not_run(
    runtime: Runtime, tmp_path: Path, broken: dict[str, Any]
) -> None:
    written(tmp_path / "a.ipynb", {**code("x"), **broken})
    result = await ask(runtime, "run", "a.ipynb", cell_index=0)
    assert (result.text.partition(" (a cell ")[0], result.is_error) == ("Error: Invalid notebook structure", True)


@pytest.mark.parametrize("case", REFUSED)
async def test_a_call_that_cannot_be_done_says_why_and_changes_nothing(
    runtime: Runtime, file: Path, tmp_path: Path, case: str
) -> None:
    (action, params), message = REFUSED[case]
    before = state(tmp_path)
    result = await ask(runtime, action, "a.ipynb", **params)
    assert (result.text, result.is_error) == (f"Error: {message}", True)
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("delete", {"cell_index": 0, "content": "x"}),
        ("edit", {"cell_index": 0, "content": "x", "timeout": 3}),
        ("run_all", {"cell_index": 0}),
        ("edit", {"cell_index": 0, "content": "x", "colour": "red"}),
        ("edit", {"cell_index": "0", "content": "x"}),
        ("insert", {"content": "x", "cell_type": "heading"}),
        ("read", {"outputs": "some"}),
    ],
)
async def test_parameters_of_another_action_and_wrong_values_are_refused(
    runtime: Runtime, file: Path, tmp_path: Path, action: str, params: dict[str, Any]
) -> None:
    before = state(tmp_path)
    result = await ask(runtime, action, "a.ipynb", **params)
    assert (result.is_error, result.text.startswith("Error: ")) == (True, True)
    assert any(name in result.text for name in ("content", "timeout", "cell_index", "colour", "cell_type", "outputs"))
    assert state(tmp_path) == before


async def test_of_a_few_values_all_are_named(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "insert", file, content="x", cell_type="heading")
    assert result.text == 'Error: Wrong value for `cell_type`: Expected one of `code`, `markdown`, `raw`, got "heading"'


ACTIONS: list[Call] = [
    ("edit", {"cell_index": 0, "content": "x"}),
    ("insert", {"content": "x"}),
    ("delete", {"cell_index": 0}),
    ("read", {}),
    ("move", {"cell_index": 0, "to_index": 0}),
    ("clear", {}),
    ("run", {"cell_index": 0}),
    ("run_all", {}),
    ("run_until", {"cell_index": 0}),
]


@pytest.mark.parametrize(("action", "params"), ACTIONS, ids=[action for action, _ in ACTIONS])
async def test_every_action_tells_what_is_no_notebook(
    runtime: Runtime, tmp_path: Path, action: str, params: dict[str, Any]
) -> None:
    (tmp_path / "broken.ipynb").write_text('{"cells": [', encoding="utf-8")
    (tmp_path / "list.ipynb").write_text("[]", encoding="utf-8")
    (tmp_path / "none.ipynb").write_text('{"nbformat": 4, "cells": {}}', encoding="utf-8")
    before = state(tmp_path)
    missing = await ask(runtime, action, "no.ipynb", **params)
    broken = await ask(runtime, action, "broken.ipynb", **params)
    listed = await ask(runtime, action, "list.ipynb", **params)
    without = await ask(runtime, action, "none.ipynb", **params)
    assert missing.text == "Error: Notebook not found: no.ipynb"
    assert broken.text.splitlines()[0] == "Error: Invalid JSON in notebook: broken.ipynb"
    assert listed.text == "Error: Invalid notebook structure (missing cells array): list.ipynb"
    assert without.text == "Error: Invalid notebook structure (missing cells array): none.ipynb"
    assert all(result.is_error for result in (missing, broken, listed, without))
    assert state(tmp_path) == before


async def test_a_notebook_without_cells_takes_a_first_one(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "empty.ipynb")
    refused = await ask(runtime, "edit", "empty.ipynb", cell_index=0, content="x")
    made = await ask(runtime, "insert", "empty.ipynb", content="x")
    emptied = await ask(runtime, "delete", "empty.ipynb", cell_index=0)
    assert refused.text == "Error: Cell index 0 out of range (it has no cells) in empty.ipynb"
    assert made.text == "Inserted code cell at position 0. Notebook now has 1 cells."
    assert edit_details(emptied).total_cells == 0
    assert json.loads(file.read_text(encoding="utf-8"))["cells"] == []


async def test_an_id_that_several_cells_have_is_refused_and_an_index_still_goes(
    runtime: Runtime, tmp_path: Path
) -> None:
    file = written(tmp_path / "two.ipynb", code("a", "same"), code("b", "same"), code("c", "other"))
    before = file.read_bytes()
    result = await ask(runtime, "delete", "two.ipynb", cell_id="same")
    assert result.text == "Error: 2 cells have the id 'same' (cells 0, 1) in two.ipynb\nName one by `cell_index`."
    assert file.read_bytes() == before
    await ask(runtime, "delete", "two.ipynb", cell_index=1)
    assert sources_in(file) == ["a", "c"]
