"""Notebooks as they are found: without ids, with the same id twice, with a mark, with sources that are strings."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.notebooks import CellValue, ask, cells_in, code, edit_details, markdown, state_of
from tests.fakes.runtimes import runtime_on, scripted_runtime


async def edited(file: Path, tmp_path: Path) -> None:
    """Change cell 0 for real and back, add one at the end and take it out."""
    async with scripted_runtime({}, tmp_path) as runtime:
        before = sources_in_any(file)[0]
        for content in ("changed\nfor real", before):
            result = await ask(runtime, "edit", file, cell_index=0, content=content)
            assert not result.is_error, result.text
        made = await ask(runtime, "insert", file, content="new")
        assert not made.is_error, made.text
        await ask(runtime, "delete", file, cell_index=edit_details(made).cell_index)


def sources_in_any(file: Path) -> list[str]:
    cells = json.loads(file.read_text(encoding="utf-8-sig"))["cells"]
    return ["".join(cell["source"]) for cell in cells]


def file_of(folder: Path, *cells: CellValue, mark: str = "", **members: Any) -> Path:
    """A notebook that no program of today would write."""
    file = folder / "odd.ipynb"
    value = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **members}
    file.write_text(mark + json.dumps(value, indent=2), encoding="utf-8")
    return file


ODD: dict[str, dict[str, Any]] = {
    "4.5 without ids": {"cells": [code("a"), markdown("b")]},
    "the same id twice": {"cells": [code("a", "x"), code("b", "x")]},
    "a mark of byte order": {"cells": [code("a", "x")], "mark": "\ufeff"},
    "sources as strings": {"cells": [{**code("", "x"), "source": "a\nb"}, {**markdown("", "y"), "source": "c"}]},
    "format 4.0": {"cells": [code("a")], "nbformat_minor": 0},
    "a format without a minor number": {"cells": [code("a")], "nbformat_minor": None},
}


@pytest.mark.parametrize("case", ODD)
async def test_an_odd_notebook_is_the_same_after_changes_that_were_taken_back(tmp_path: Path, case: str) -> None:
    cells, members = ODD[case]["cells"], {key: value for key, value in ODD[case].items() if key != "cells"}
    file = file_of(tmp_path, *cells, **members)
    before = state_of(file)[0]
    await edited(file, tmp_path)
    assert state_of(file)[0] == before


async def test_a_cell_of_4_5_gets_an_id_although_the_others_have_none(tmp_path: Path) -> None:
    file = file_of(tmp_path, code("a"), code("b"))
    async with scripted_runtime({}, tmp_path) as runtime:
        result = await ask(runtime, "insert", file, cell_index=1, content="new")
    assert [cell.get("id") for cell in cells_in(file)] == [None, edit_details(result).cell_id, None]
    assert edit_details(result).cell_id


async def test_a_source_stays_a_string_and_its_neighbour_becomes_one(tmp_path: Path) -> None:
    file = file_of(tmp_path, {**code("", "x"), "source": "a\nb"})
    async with scripted_runtime({}, tmp_path) as runtime:
        await ask(runtime, "edit", file, cell_index=0, content="c\nd")
        await ask(runtime, "insert", file, content="e\nf")
    assert [cell["source"] for cell in cells_in(file)] == ["c\nd", "e\nf"]


@pytest.mark.parametrize("case", ODD)
async def test_the_cells_of_an_odd_notebook_run_and_keep_their_layout(
    plain_python: str, tmp_path: Path, case: str
) -> None:
    members = {key: value for key, value in ODD[case].items() if key != "cells"}
    cells = [{**cell, "source": f"print({n})"} for n, cell in enumerate(ODD[case]["cells"])]
    file = file_of(tmp_path, *cells, **members)
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", file)
    assert not result.is_error, result.text
    found = json.loads(file.read_text(encoding="utf-8-sig"))["cells"]
    for number, (old, new) in enumerate(zip(cells, found, strict=True)):
        if old["cell_type"] == "code":
            stream = {"name": "stdout", "output_type": "stream", "text": [f"{number}\n"]}
            assert new == {**old, "execution_count": number + 1, "outputs": [stream]}
        else:
            assert new == old
