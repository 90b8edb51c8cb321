"""Old notebooks come out as Jupyter itself would convert them, valid, and with nothing lost on the way."""

import copy
import json
from typing import Any

import pytest

from pisces.errors import NotebookError
from pisces.notebooks.old_formats import readable_cells, upgrade, version_of
from tests.unit.notebooks.old_notebooks import (
    EVERY_KIND,
    PNG,
    V1,
    V2,
    V4_0,
    Node,
    by_jupyter,
    code,
    numbered,
    upgraded,
    v3,
    whole,
)


def only_cell(notebook: Node) -> Node:
    (cell,) = upgraded(notebook)["cells"]
    found: Node = cell
    return found


@pytest.mark.parametrize("old", [EVERY_KIND, V2, V4_0], ids=["3", "2", "4.0"])
def test_cells_and_outputs_are_those_that_jupyter_makes(old: Node) -> None:
    assert whole(upgraded(old)["cells"]) == by_jupyter(old)


def test_the_first_format_is_known_by_having_no_number() -> None:
    assert version_of(V1) == (1, 0)
    assert [cell["source"] for cell in whole(upgraded(V1)["cells"])] == [
        cell["source"] for cell in by_jupyter(V1)
    ]  # Jupyter adds `collapsed: false`, which the old file does not say.
    assert [cell.get("execution_count") for cell in upgraded(V1)["cells"]] == [None, 3, None]
    assert [cell["cell_type"] for cell in upgraded(V1)["cells"]] == ["markdown", "code", "code"]


@pytest.mark.parametrize(
    ("notebook", "version"),
    [(EVERY_KIND, (3, 0)), (V2, (2, 0)), (V4_0, (4, 0)), ({"nbformat": 4, "nbformat_minor": 99}, (4, 99))],
    ids=["3", "2", "4.0", "4.99"],
)
def test_the_version_is_what_the_file_says(notebook: Node, version: tuple[int, int]) -> None:
    assert version_of(notebook) == version


def test_texts_are_written_as_lists_of_lines_and_pictures_in_one_piece() -> None:
    cells = upgraded(EVERY_KIND)["cells"]
    assert cells[0]["source"] == ["## A title over two lines"]
    assert cells[1]["source"] == ["one\n", "two\n"]
    assert cells[4]["source"] == []
    stream, result, picture, rich = cells[5]["outputs"][:4]
    assert stream == {"name": "stderr", "output_type": "stream", "text": ["careful\n", "now"]}
    assert result["data"] == {"text/plain": ["<Figure>"], "image/png": PNG}
    assert picture["metadata"] == {"image/png": {"width": 3}}
    assert rich["data"]["application/javascript"] == ["a;\n", "b"]
    assert upgraded(V4_0)["cells"][0]["source"] == ["# one\n", "two"]


def test_keys_stand_in_the_order_in_which_jupyter_writes_them() -> None:
    made = upgraded(EVERY_KIND)
    for node in [made, *made["cells"], *made["cells"][5]["outputs"]]:
        assert list(node) == sorted(node)


def test_a_pdf_gets_its_type() -> None:
    output = {"output_type": "display_data", "pdf": "JVBERi0=", "metadata": {"pdf": {"pages": 1}}}
    assert only_cell(v3(code("x", output)))["outputs"] == [
        {
            "data": {"application/pdf": "JVBERi0="},
            "metadata": {"application/pdf": {"pages": 1}},
            "output_type": "display_data",
        }
    ]


def test_lines_that_lost_their_ends_get_them_back() -> None:
    assert only_cell(v3(code(["a", "", "b"])))["source"] == ["a\n", "\n", "b"]
    assert only_cell(v3(code(["a\n", "\n", "b"])))["source"] == ["a\n", "\n", "b"]


def test_worksheets_become_one_row_of_cells_and_their_borders_are_kept() -> None:
    sheets = [
        {"cells": [code("a"), code("b")], "metadata": {"color": "red"}},
        {"cells": [code("c")], "name": "second"},
        {"metadata": {}},
    ]
    made = upgraded(v3(worksheets=sheets))
    assert [cell["source"] for cell in made["cells"]] == [["a"], ["b"], ["c"]]
    assert made["metadata"]["before_upgrade"]["worksheets"] == [
        {"cells": 2, "metadata": {"color": "red"}},
        {"cells": 1, "name": "second"},
        {"cells": 0, "metadata": {}},
    ]


def test_a_plain_notebook_comes_out_without_a_trace_of_the_old_format() -> None:
    assert "before_upgrade" not in json.dumps(upgraded(EVERY_KIND))
    assert upgraded(EVERY_KIND)["metadata"] == {}


def test_name_and_unknown_members_are_kept_and_signatures_are_not() -> None:
    metadata = {"name": "Old", "signature": "sha256:0", "kernel_info": {"name": "k", "language": "x"}}
    made = upgraded(v3(metadata=metadata, orig_nbformat=2, invented=[1]))
    assert made["metadata"] == {
        "kernel_info": {"name": "k", "language": "x"},
        "before_upgrade": {"invented": [1], "metadata": {"name": "Old"}},
    }


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        (code("x", language="julia"), {"language": "julia"}),
        (code("x", prompt_number="*"), {"execution_count": "*"}),
        (code("x", source="y"), {"input": "y"}),
        (code(7), {"source": 7}),
        (code("x", metadata=[1]), {"metadata": [1], "collapsed": False}),
        (code("x", metadata={"tags": "a,b", "mine": 1}), {"metadata": {"tags": "a,b"}}),
        (code("x", outputs=5), {"outputs": 5}),
        (code("x", id="not an id"), {"id": "not an id"}),
        ({"cell_type": "heading", "level": 9, "source": "deep"}, {"level": 9}),
        ({"cell_type": "markdown", "source": "x", "rendered": "<p>x</p>"}, {"rendered": "<p>x</p>"}),
        ({"cell_type": "plaintext", "source": "x"}, {"cell_type": "plaintext"}),
        ({"cell_type": [1], "source": "x"}, {"cell_type": [1]}),
        ({"source": "x", "trusted": True}, {}),
        (code("x", {"output_type": "odd", "a": 1}), {"outputs": {"0": {"output_type": "odd", "a": 1}}}),
        (code("x", {"output_type": "stream", "stream": "stdout", "text": "t", "b": 2}), {"outputs": {"0": {"b": 2}}}),
        (
            code("x", {"output_type": "display_data", "prompt_number": 3, "html": 4}),
            {"outputs": {"0": {"prompt_number": 3, "data": {"text/html": 4}}}},
        ),
        (
            code("x", {"output_type": "display_data", "text": "new", "text/plain": "other", "json": "{no"}),
            {"outputs": {"0": {"text": "other", "application/json": "{no"}}},
        ),
        (
            code("x", {"output_type": "display_data", "json": "NaN"}),
            {"outputs": {"0": {"application/json": "NaN"}}},
        ),
    ],
    ids=str,
)
def test_what_has_no_place_is_kept_in_the_metadata(cell: Node, kept: Node) -> None:
    assert only_cell(v3(cell))["metadata"].get("before_upgrade", {}) == kept


def test_an_error_of_the_second_format_has_its_name() -> None:
    old = copy.deepcopy(V2)
    error = {"output_type": "pyerr", "etype": "E", "evalue": "v", "traceback": ["t"]}
    old["worksheets"] = [{"cells": [{"cell_type": "code", "input": "x", "outputs": [error]}]}]
    assert only_cell(old)["outputs"] == [{"ename": "E", "evalue": "v", "output_type": "error", "traceback": ["t"]}]


def test_cells_without_an_id_get_one_and_the_later_of_two_with_the_same_another() -> None:
    old = copy.deepcopy(V4_0)
    cell = {"cell_type": "raw", "metadata": {}, "source": "x"}
    old["cells"] = [cell, {**cell, "id": "a"}, {**cell, "id": "a"}, {**cell, "id": "b"}, {**cell, "id": "new-1"}]
    ids = [cell["id"] for cell in upgraded(old)["cells"]]
    assert ids == ["new-1-2", "a", "new-2", "b", "new-1"]


def test_ids_that_repeat_are_told_apart_and_stay_short_enough() -> None:
    old = v3(code("a"), code("b"), code("c"))
    ids = [cell["id"] for cell in upgrade(old, ids=lambda: "x" * 64)["cells"]]
    assert len(set(ids)) == 3
    assert all(len(made) <= 64 for made in ids)


def test_a_notebook_of_today_stays_as_it_is() -> None:
    made = upgraded(EVERY_KIND)
    assert upgraded(made) == made


def test_a_kernelspec_without_a_name_to_display_shows_its_own() -> None:
    old = {**V4_0, "metadata": {"kernelspec": {"name": "python3"}, "language_info": {"version": "3"}}}
    assert upgraded(old)["metadata"] == {
        "kernelspec": {"name": "python3", "display_name": "python3"},
        "before_upgrade": {"metadata": {"language_info": {"version": "3"}}},
    }


@pytest.mark.parametrize(
    "notebook",
    [
        [],
        "text",
        {},
        {"nbformat": "3"},
        {"nbformat": True, "cells": []},
        {"nbformat": 4, "nbformat_minor": None, "cells": []},
        {"nbformat": -1, "cells": []},
    ],
    ids=str,
)
def test_what_has_no_version_is_no_notebook(notebook: Any) -> None:
    with pytest.raises(NotebookError, match="no notebook"):
        version_of(notebook)
    with pytest.raises(NotebookError, match="no notebook"):
        upgrade(notebook, ids=numbered())


@pytest.mark.parametrize(
    "notebook",
    [
        {"nbformat": 4, "nbformat_minor": 0},
        {"nbformat": 4, "nbformat_minor": 0, "cells": {}},
        {"nbformat": 4, "nbformat_minor": 0, "cells": ["x"]},
        {"nbformat": 3, "nbformat_minor": 0},
        v3(worksheets={}),
        v3(worksheets=[1]),
        v3(worksheets=[{"cells": 1}]),
    ],
    ids=str,
)
def test_a_notebook_without_cells_is_refused(notebook: Node) -> None:
    with pytest.raises(NotebookError, match="Invalid notebook structure"):
        upgrade(notebook, ids=numbered())
    with pytest.raises(NotebookError, match="Invalid notebook structure"):
        readable_cells(notebook)


@pytest.mark.parametrize("version", [(4, 6), (5, 0)], ids=str)
def test_a_newer_notebook_is_not_upgraded_but_can_be_read(version: tuple[int, int]) -> None:
    newer = {**V4_0, "nbformat": version[0], "nbformat_minor": version[1]}
    with pytest.raises(NotebookError, match=r"nbformat \d\.\d is newer than 4\.5"):
        upgrade(newer, ids=numbered())
    assert readable_cells(newer)[0]["source"] == "# one\ntwo"


def test_old_cells_are_read_with_their_texts_in_one_piece() -> None:
    before = copy.deepcopy(EVERY_KIND)
    cells = readable_cells(EVERY_KIND)
    assert before == EVERY_KIND
    assert [cell["cell_type"] for cell in cells] == ["markdown", "markdown", "markdown", "raw", "code", "code"]
    assert cells[0]["source"] == "## A title over two lines"
    assert cells[5]["source"] == "print(1)\n1 / 0"
    assert cells[5]["execution_count"] == 4
    assert cells[5]["outputs"][0] == {"name": "stderr", "output_type": "stream", "text": "careful\nnow"}
    assert cells == whole(upgraded(EVERY_KIND)["cells"])
