"""Calls of the notebook tool: what was done, to which cell of which notebook, and its source."""

from typing import Any

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from pisces.model.notebooks import NotebookCellInfo, NotebookDetails
from pisces.model.results import TextBlock, ToolResult
from pisces.render.look import Look
from pisces.render.notebook_call import notebook_block
from pisces.render.rows import width_of
from tests.fakes.cell_views import lines, styled_text_of, text_of

PATH = "/data/project/notebooks/analysis of everything.ipynb"
CALLS: dict[str, NotebookDetails] = {
    "edit": NotebookDetails(
        action="edit",
        notebook_path=PATH,
        total_cells=9,
        cell_index=3,
        cell_type="code",
        cell_source="import os\nos.getcwd()",
        stale_outputs=True,
    ),
    "insert": NotebookDetails(
        action="insert",
        notebook_path=PATH,
        total_cells=1,
        cell_index=0,
        cell_type="markdown",
        cell_source="# Title\n\n**bold** text",
    ),
    "delete": NotebookDetails(
        action="delete", notebook_path=PATH, total_cells=0, cell_index=0, cell_type="raw", cell_source=lines(9)
    ),
    "read": NotebookDetails(
        action="read",
        notebook_path=PATH,
        total_cells=2,
        cells=[
            NotebookCellInfo(cell_index=0, cell_type="markdown", cell_source="# Title"),
            NotebookCellInfo(cell_index=1, cell_type="code", cell_source="x = 1"),
        ],
        artifact_id="4",
    ),
    "clear": NotebookDetails(action="clear", notebook_path=PATH, total_cells=2),
}


def call(details: Any, text: str = "", *, is_error: bool = False) -> ToolResult:
    return ToolResult(content=[TextBlock(text)], details=details, is_error=is_error)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_call(snapshot: SnapshotAssertion, width: int) -> None:
    looks = (Look(width=width, coloured=False), Look(width=width))
    failed = call(None, "Error: Notebook not found: /data/a.ipynb", is_error=True)
    plain, coloured = (
        [
            *(notebook_block(call(details), look).rows for details in CALLS.values()),
            notebook_block(failed, look, action="edit", path="/data/a.ipynb").rows,
        ]
        for look in looks
    )
    assert "\n".join((*map(text_of, plain), *map(styled_text_of, coloured))) == snapshot


@pytest.mark.parametrize("name", CALLS)
def test_what_json_made_of_it_is_shown_alike(name: str) -> None:
    details = CALLS[name]
    assert notebook_block(call(msgspec.to_builtins(details)), Look()).rows == notebook_block(call(details), Look()).rows


@pytest.mark.parametrize("width", [8, 20, 33])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    for details in CALLS.values():
        assert all(width_of(row) <= width for row in notebook_block(call(details), Look(width=width)).rows)


def test_of_a_long_source_both_ends_are_shown() -> None:
    shown = text_of(notebook_block(call(CALLS["delete"]), Look()).rows).split("\n")
    assert shown[1:-1] == ["│ line 1", "│ line 2", "│ line 3", "│ … 3 more lines", "│ line 7", "│ line 8", "│ line 9"]
    assert "more lines" not in text_of(notebook_block(call(CALLS["delete"]), Look(expanded=True)).rows)


def test_an_error_is_one_by_what_the_result_says() -> None:
    shown = text_of(notebook_block(call(CALLS["edit"], "Error: no", is_error=True), Look()).rows)
    assert shown == "✗ notebook\n✗ Error: no"
