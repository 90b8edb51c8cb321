"""Cells are read with their outputs: none, in brief or in full, bounded, and old formats too."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pisces.model.results import ImageBlock
from pisces.runtime import Runtime
from tests.fakes.notebooks import ask, cells_in, code, edit_details, markdown, ran, state_of, written
from tests.fakes.runtimes import scripted_runtime


def picture(width: int = 3, height: int = 2) -> str:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def shown(**data: Any) -> dict[str, Any]:
    bundle = {name.replace("__", "/"): value for name, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": bundle}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    many = "".join(f"line {number}\n" for number in range(8))
    result = {
        "output_type": "execute_result",
        "execution_count": 7,
        "metadata": {},
        "data": {"text/plain": ["42"]},
    }
    error = {
        "output_type": "error",
        "ename": "ZeroDivisionError",
        "evalue": "division by zero",
        "traceback": ["\x1b[31mTraceback\x1b[0m", "ZeroDivisionError: division by zero"],
    }
    return written(
        tmp_path / "a.ipynb",
        markdown("# hi\nthere"),
        ran(code("count()", tags=["b", "a"]), many, 7),
        code("both()", outputs=[shown(image__png=picture(), text__plain="<Figure>"), result], execution_count=7),
        code("fail()", outputs=[error], execution_count=8),
        code("x = 1"),
    )


ALL = """a.ipynb: 5 cells

── cell 0 (markdown, id c0)
# hi
there

── cell 1 (code, id c1, run as [7], 1 output, tagged a, b)
count()
  stdout:
    line 0
    line 1
    line 2
    line 3
    line 4
    [… 3 more lines, 56 B in all]

── cell 2 (code, id c2, run as [7], 2 outputs)
both()
  display:
    <Figure>
    [image/png 3x2]
  result: 42

── cell 3 (code, id c3, run as [8], 1 output)
fail()
  error: ZeroDivisionError: division by zero

── cell 4 (code, id c4, not run)
x = 1"""


async def test_all_cells_are_shown_with_their_outputs_in_brief(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "read", "a.ipynb")
    assert (result.text, result.is_error, len(result.content)) == (ALL, False, 1)
    found = edit_details(result)
    assert (found.action, found.total_cells, found.cell_index) == ("read", 5, None)
    assert [cell.cell_index for cell in found.cells] == [0, 1, 2, 3, 4]
    assert [cell.cell_id for cell in found.cells] == ["c0", "c1", "c2", "c3", "c4"]
    assert [cell.execution_count for cell in found.cells] == [None, 7, 7, 8, None]
    assert (found.cells[1].tags, found.cells[1].cell_source, found.cells[1].outputs) == (["a", "b"], "count()", None)


async def test_without_outputs_only_the_sources_are_shown(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "read", "a.ipynb", outputs="none")
    assert "line 0" not in result.text
    assert "division" not in result.text
    assert "fail()" in result.text


async def test_in_full_all_of_the_outputs_is_there_and_pictures_are_blocks(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "read", "a.ipynb", outputs="full")
    assert "    line 7\n" in result.text
    assert "  error:\n    Traceback\n    ZeroDivisionError: division by zero" in result.text
    (block,) = result.content[1:]
    assert isinstance(block, ImageBlock)
    assert (block.mime_type, block.data) == ("image/png", picture())
    assert [cell.outputs for cell in edit_details(result).cells[1:]] == [cell["outputs"] for cell in cells_in(file)[1:]]


@pytest.mark.parametrize("params", [{"cell_index": 3}, {"cell_id": "c3"}], ids=["index", "id"])
async def test_one_cell_is_read_by_itself(runtime: Runtime, file: Path, params: dict[str, Any]) -> None:
    result = await ask(runtime, "read", "a.ipynb", **params)
    assert result.text == (
        "a.ipynb: 5 cells\n\n── cell 3 (code, id c3, run as [8], 1 output)\n"
        "fail()\n  error: ZeroDivisionError: division by zero"
    )
    found = edit_details(result)
    assert (found.cell_index, found.cell_id, found.cell_type, found.cell_source) == (3, "c3", "code", "fail()")
    assert (found.total_cells, len(found.cells)) == (5, 1)


async def test_a_range_is_read_with_both_ends(runtime: Runtime, file: Path) -> None:
    result = await ask(runtime, "read", "a.ipynb", cell_index=3, last_index=4)
    assert re.findall(r"── cell (\d)", result.text) == ["3", "4"]


async def test_reading_writes_nothing(runtime: Runtime, file: Path) -> None:
    before = state_of(file)
    await ask(runtime, "read", "a.ipynb", outputs="full")
    assert state_of(file) == before


async def test_too_much_text_is_cut_and_an_artifact_has_all_of_it(tmp_path: Path) -> None:
    much = "".join(f"line {number}\n" for number in range(5000))
    written(tmp_path / "a.ipynb", ran(code("a"), much), code("the last"))
    async with scripted_runtime({}, tmp_path, output={"max_bytes": 20_000}) as runtime:
        result = await ask(runtime, "read", "a.ipynb", outputs="full")
        artifact = edit_details(result).artifact_id
        assert artifact is not None
        assert runtime._services is not None
        whole = runtime._services.artifacts.path(artifact).read_text(encoding="utf-8")
    assert len(result.text) < 25_000
    assert f"artifact://{artifact}" in result.text
    assert "the last" in result.text
    assert all(f"    line {number}\n" in whole for number in range(5000))


async def test_the_details_hold_outputs_as_long_as_there_is_room(runtime: Runtime, tmp_path: Path) -> None:
    large = "x" * (5 << 20)
    written(tmp_path / "a.ipynb", ran(code("small"), "a"), ran(code("large"), large), ran(code("too much"), large))
    details = edit_details(await ask(runtime, "read", "a.ipynb", outputs="full"))
    assert [cell.outputs is not None for cell in details.cells] == [True, True, False]
    assert [cell.cell_source for cell in details.cells] == ["small", "large", "too much"]


async def test_more_pictures_than_a_model_looks_at_are_counted(runtime: Runtime, tmp_path: Path) -> None:
    outputs = [shown(image__png=picture(width)) for width in range(1, 11)]
    written(tmp_path / "a.ipynb", code("draw()", outputs=outputs))
    result = await ask(runtime, "read", "a.ipynb", outputs="full")
    assert len([block for block in result.content if isinstance(block, ImageBlock)]) == 8
    assert result.text.endswith("[2 more pictures are not shown: read fewer cells.]")


async def test_a_picture_that_is_none_is_named_and_no_block(runtime: Runtime, tmp_path: Path) -> None:
    broken = shown(image__png="bm90IGEgcGljdHVyZQ==", text__plain="beside it")
    written(tmp_path / "a.ipynb", code("draw()", outputs=[broken]))
    result = await ask(runtime, "read", "a.ipynb", outputs="full")
    assert len(result.content) == 1
    assert "beside it" in result.text


async def test_a_notebook_of_an_old_format_can_be_read_and_says_how_to_bring_it_up(
    runtime: Runtime, tmp_path: Path
) -> None:
    cell = {"cell_type": "code", "input": ["print(1)"], "language": "python", "outputs": [], "prompt_number": 2}
    old = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [cell]}]}
    file = tmp_path / "old.ipynb"
    file.write_text(json.dumps(old), encoding="utf-8")
    before = state_of(file)
    hint = (
        "The notebook is in nbformat 3, which is too old to be changed: old.ipynb\n"
        "`pisces notebook upgrade` writes it in nbformat 4.5; until then it can only be read."
    )
    result = await ask(runtime, "read", "old.ipynb")
    refused = [
        await ask(runtime, "edit", "old.ipynb", cell_index=0, content="x"),
        await ask(runtime, "insert", "old.ipynb", content="x"),
        await ask(runtime, "delete", "old.ipynb", cell_index=0),
        await ask(runtime, "clear", "old.ipynb"),
        await ask(runtime, "run_all", "old.ipynb"),
    ]
    assert result.text == f"old.ipynb: 1 cell\n\n── cell 0 (code, run as [2])\nprint(1)\n\n{hint}"
    assert not result.is_error
    assert [answer.text for answer in refused] == [f"Error: {hint}"] * 5
    assert state_of(file) == before


async def test_a_notebook_of_a_format_to_come_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "new.ipynb").write_text('{"cells": [], "nbformat": 5}', encoding="utf-8")
    result = await ask(runtime, "read", "new.ipynb")
    assert result.text.startswith("Error: The notebook is in nbformat 5, which is newer than what is known here (4):")
