"""Cells are changed, added and taken out; the reply says so in fixed words."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.notebooks import (
    ask,
    cells_in,
    code,
    edit_details,
    is_as_jupyter_writes_it,
    markdown,
    ran,
    sources_in,
    state_of,
    written,
)

STALE = "\nIts outputs are stale, from before this edit: run the cell, or clear them."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "a.ipynb", markdown("# hi"), ran(code("x = 1\nx"), "1\n"), code("y"))


def told(result: ToolResult) -> tuple[Any, ...]:
    found = edit_details(result)
    return found.action, found.cell_index, found.cell_type, found.total_cells, found.cell_source, found.cell_id


async def test_an_edit_replaces_the_source_and_tells_so(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=2, content="z = 1\nz\n")
    assert (result.text, result.is_error) == ("Replaced cell 2 (code). Notebook now has 3 cells.", False)
    assert told(result) == ("edit", 2, "code", 3, "z = 1\nz\n", "c2")
    assert cells_in(file)[2]["source"] == ["z = 1\n", "z\n"]
    assert edit_details(result).notebook_path == "a.ipynb"


async def test_an_insert_puts_a_cell_before_the_one_of_that_index(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "insert", "a.ipynb", cell_index=1, content="new\n1", cell_type="code")
    assert result.text == "Inserted code cell at position 1. Notebook now has 4 cells."
    made = cells_in(file)[1]
    assert re.fullmatch(r"[0-9a-f]{8}", made.pop("id"))
    assert made == {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": ["new\n", "1"],
    }
    assert told(result)[:-1] == ("insert", 1, "code", 4, "new\n1")
    assert edit_details(result).cell_id == cells_in(file)[1]["id"]
    assert is_as_jupyter_writes_it(file)


async def test_an_insert_without_a_place_goes_to_the_end_and_is_code(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "insert", "a.ipynb", content="")
    assert result.text == "Inserted code cell at position 3. Notebook now has 4 cells."
    assert (cells_in(file)[3]["source"], cells_in(file)[3]["cell_type"]) == ([], "code")


@pytest.mark.parametrize("kind", ["markdown", "raw"])
async def test_a_cell_that_is_no_code_has_nothing_of_a_run(runtime: Runtime, file: Path, kind: str) -> None:
    result = await ask(runtime, "insert", "a.ipynb", cell_index=3, content="t", cell_type=kind)
    assert result.text == f"Inserted {kind} cell at position 3. Notebook now has 4 cells."
    assert sorted(cells_in(file)[3]) == ["cell_type", "id", "metadata", "source"]


async def test_a_cell_of_an_older_format_gets_no_id(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "old.ipynb", code("a"), minor=4)
    await ask(runtime, "insert", file, content="b")
    assert "id" not in cells_in(file)[1]
    assert is_as_jupyter_writes_it(file)


async def test_a_delete_takes_the_cell_out(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "delete", "a.ipynb", cell_index=0)
    assert result.text == "Deleted cell 0 (markdown). Notebook now has 2 cells."
    assert told(result) == ("delete", 0, "markdown", 2, "# hi", "c0")
    assert sources_in(file) == ["x = 1\nx", "y"]
    assert is_as_jupyter_writes_it(file)


@pytest.mark.parametrize("cell", [5, {"cell_type": "of the future", "source": ""}, {"cell_type": "code", "source": 1}])
async def test_a_cell_that_no_notebook_can_have_can_be_taken_out(
    runtime: Runtime, tmp_path: Path, cell: object
) -> None:
    file = tmp_path / "broken.ipynb"
    file.write_text(json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}), encoding="utf-8")
    assert (await ask(runtime, "edit", file, cell_index=0, content="x")).is_error
    result = await ask(runtime, "delete", file, cell_index=0)
    assert result.text == "Deleted cell 0 (invalid). Notebook now has 0 cells."
    assert cells_in(file) == []


async def test_a_cell_is_found_by_its_id(runtime: Runtime, file: Path) -> None:
    edited = await ask(runtime, "edit", "a.ipynb", cell_id="c2", content="by id")
    inserted = await ask(runtime, "insert", "a.ipynb", cell_id="c0", content="after it")
    deleted = await ask(runtime, "delete", "a.ipynb", cell_id="c0")
    assert edited.text.startswith("Replaced cell 2 ")
    assert inserted.text == "Inserted code cell at position 1. Notebook now has 4 cells."
    assert deleted.text == "Deleted cell 0 (markdown). Notebook now has 3 cells."
    assert sources_in(file) == ["after it", "x = 1\nx", "by id"]


async def test_outputs_of_another_source_are_said_to_be_stale(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=1, content="x = 2\nx")
    assert result.text == f"Replaced cell 1 (code). Notebook now has 3 cells.{STALE}"
    assert edit_details(result).stale_outputs
    assert (cells_in(file)[1]["outputs"][0]["text"], cells_in(file)[1]["execution_count"]) == (["1\n"], 1)


async def test_the_same_source_leaves_the_outputs_fresh_and_the_file_alone(runtime: Runtime, file: Path) -> None:
    before = state_of(file)
    result = await ask(runtime, "edit", "a.ipynb", cell_index=1, content="x = 1\nx")
    assert result.text == "Replaced cell 1 (code). Notebook now has 3 cells."
    assert not edit_details(result).stale_outputs
    assert state_of(file) == before


async def test_a_cell_without_outputs_has_none_that_are_stale(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=2, content="other")
    assert (STALE in result.text, edit_details(result).stale_outputs) == (False, False)


@pytest.mark.parametrize("content", ["x = 2", "x = 1\nx"])
async def test_outputs_are_cleared_where_that_is_asked_for(runtime: Runtime, file: Path, content: str) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=1, content=content, clear_outputs=True)
    assert result.text == "Replaced cell 1 (code). Notebook now has 3 cells."
    assert not edit_details(result).stale_outputs
    assert (cells_in(file)[1]["outputs"], cells_in(file)[1]["execution_count"]) == ([], None)


async def test_a_cell_that_becomes_text_loses_what_belongs_to_a_run(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=1, content="# text", cell_type="markdown")
    assert result.text == "Replaced cell 1 (markdown). Notebook now has 3 cells."
    assert (edit_details(result).cell_type, edit_details(result).stale_outputs) == ("markdown", False)
    assert cells_in(file)[1] == {"cell_type": "markdown", "id": "c1", "metadata": {}, "source": ["# text"]}
    assert is_as_jupyter_writes_it(file)


async def test_a_cell_that_becomes_code_gets_what_belongs_to_a_run(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=0, content="1", cell_type="code", clear_outputs=True)
    assert result.text == "Replaced cell 0 (code). Notebook now has 3 cells."
    assert (cells_in(file)[0]["execution_count"], cells_in(file)[0]["outputs"]) == (None, [])
    assert is_as_jupyter_writes_it(file)


async def test_clearing_a_cell_of_text_is_nothing_to_do(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "edit", "a.ipynb", cell_index=0, content="## hi", clear_outputs=True)
    assert result.text == "Replaced cell 0 (markdown). Notebook now has 3 cells."
    assert sorted(cells_in(file)[0]) == ["cell_type", "id", "metadata", "source"]


async def test_every_byte_outside_the_edited_value_stays(runtime: Runtime, tmp_path: Path) -> None:
    """The layout is none that Jupyter would write."""
    file = tmp_path / "odd.ipynb"
    text = (
        '{"nbformat_minor":5,\t"cells" : [ {"source":"a\\u00e9", "cell_type":"markdown","metadata":{},"id":"m" },\r\n'
        '{"id":"k","source":["OLD"],"metadata":{"z":1.50,"a":null},"outputs":[],"execution_count":null,'
        '"cell_type":"code","more":[ ]}],"metadata":{},"nbformat":4}'
    )
    file.write_bytes(text.encode())
    await ask(runtime, "edit", file, cell_index=1, content="NEW")
    assert file.read_bytes() == text.replace("OLD", "NEW").encode()
    await ask(runtime, "edit", file, cell_index=1, content="OLD")
    assert file.read_bytes() == text.encode()


async def test_a_link_and_the_mode_stay(runtime: Runtime, file: Path, tmp_path: Path) -> None:
    os.chmod(file, 0o640)
    (tmp_path / "link.ipynb").symlink_to("a.ipynb")
    await ask(runtime, "edit", "link.ipynb", cell_index=2, content="through the link")
    assert (tmp_path / "link.ipynb").is_symlink()
    assert (os.stat(file).st_mode & 0o777, sources_in(file)[2]) == (0o640, "through the link")
