"""Cells are moved, and made as if they had never been run."""

from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    cells = [markdown("t"), ran(code("a"), "1\n", 4), ran(code("b"), "2\n", 5), code("c"), ran(code("d"), "3\n", 6)]
    return written(tmp_path / "a.ipynb", *cells)


@pytest.mark.parametrize(
    ("index", "to", "order"), [(0, 4, "abcdt"), (4, 0, "dtabc"), (1, 2, "tbacd"), (2, 1, "tbacd"), (3, 3, "tabcd")]
)
async def test_a_moved_cell_is_where_it_was_sent_and_the_others_keep_their_order(
    runtime: Runtime, file: Path, index: int, to: int, order: str
) -> None:
    cells = {"".join(cell["source"]): cell for cell in cells_in(file)}
    result = await ask(runtime, "move", "a.ipynb", cell_index=index, to_index=to)
    source = order[to]
    kind = "markdown" if source == "t" else "code"
    assert result.text == f"Moved cell {index} ({kind}) to position {to}. Notebook now has 5 cells."
    assert sources_in(file) == list(order)
    assert cells_in(file) == [cells[source] for source in order]
    assert is_as_jupyter_writes_it(file)
    found = edit_details(result)
    assert (found.action, found.cell_index, found.cell_source, found.total_cells) == ("move", to, source, 5)


async def test_a_cell_is_moved_by_its_id_and_back_again(runtime: Runtime, file: Path) -> None:
    before = state_of(file)[0]
    there = await ask(runtime, "move", "a.ipynb", cell_id="c1", to_index=4)
    assert there.text == "Moved cell 1 (code) to position 4. Notebook now has 5 cells."
    await ask(runtime, "move", "a.ipynb", cell_id="c1", to_index=1)
    assert state_of(file)[0] == before


@pytest.mark.parametrize(
    ("params", "text", "cleared"),
    [
        ({}, "Cleared the outputs of 3 cells. Notebook now has 5 cells.", "abd"),
        ({"cell_index": 1}, "Cleared the outputs of cell 1. Notebook now has 5 cells.", "a"),
        ({"cell_id": "c4"}, "Cleared the outputs of cell 4. Notebook now has 5 cells.", "d"),
        (
            {"cell_index": 2, "last_index": 4},
            "Cleared the outputs of 2 cells. Notebook now has 5 cells.",
            "bd",
        ),
        ({"cell_index": 0, "last_index": 1}, "Cleared the outputs of 1 cell. Notebook now has 5 cells.", "a"),
    ],
    ids=["all", "by index", "by id", "a range", "a range with text"],
)
async def test_cleared_cells_are_as_if_they_had_not_been_run_and_the_others_stay(
    runtime: Runtime, file: Path, params: dict[str, Any], text: str, cleared: str
) -> None:
    before = cells_in(file)
    result = await ask(runtime, "clear", "a.ipynb", **params)
    assert result.text == text
    assert (edit_details(result).action, edit_details(result).total_cells) == ("clear", 5)
    for old, new in zip(before, cells_in(file), strict=True):
        if old["source"][0] in cleared:
            assert new == {**old, "execution_count": None, "outputs": []}
        else:
            assert new == old
    assert is_as_jupyter_writes_it(file)


@pytest.mark.parametrize("index", [0, 3])
async def test_where_there_is_nothing_to_clear_nothing_is_written(runtime: Runtime, file: Path, index: int) -> None:
    before = state_of(file)
    result = await ask(runtime, "clear", "a.ipynb", cell_index=index)
    assert not result.is_error
    assert state_of(file) == before
