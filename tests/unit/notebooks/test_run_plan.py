"""Which cells are run, which are not and why, and on whose kernel."""

import json
from pathlib import Path
from typing import Any

import pytest

from pisces.notebooks.document import Document
from pisces.notebooks.run_plan import RunPlan, kernelspec_of
from tests.fakes.notebooks import CellValue, code, markdown, written


def document(tmp_path: Path, *cells: CellValue, metadata: dict[str, Any] | None = None) -> Document:
    path = written(tmp_path / "a.ipynb", *cells, metadata=metadata)
    return Document.parse(path.read_bytes(), "a.ipynb")


def test_code_is_run_in_order_and_knows_its_place_in_the_notebook(tmp_path: Path) -> None:
    made = document(tmp_path, markdown("t"), code("a"), markdown("t"), code("b\nc"))
    plan = RunPlan.of(made, range(4))
    assert [(record.index, record.label, record.title, record.code) for record in plan.records] == [
        (0, "cell 1", "cell 1", "a"),
        (1, "cell 3", "cell 3", "b\nc"),
    ]
    assert {index: (ref.index, ref.id, ref.source) for index, ref in plan.cells.items()} == {
        0: (1, "c1", "a"),
        1: (3, "c3", "b\nc"),
    }
    assert (plan.may_fail, plan.skipped) == (frozenset(), {})


def test_only_the_cells_that_are_asked_for_are_run(tmp_path: Path) -> None:
    plan = RunPlan.of(document(tmp_path, code("a"), code("b"), code("c")), range(1, 2))
    assert [record.code for record in plan.records] == ["b"]


def test_empty_cells_and_those_tagged_so_are_skipped_with_the_reason(tmp_path: Path) -> None:
    made = document(
        tmp_path, code(""), code(" \n\t"), code("a", tags=["skip-execution", "x"]), code("# only a comment")
    )
    plan = RunPlan.of(made, range(4))
    assert [record.code for record in plan.records] == ["# only a comment"]
    assert plan.skipped == {0: "empty", 1: "empty", 2: "tagged skip-execution"}


@pytest.mark.parametrize("broken", [{"cell_type": "of the future"}, {"source": 1}], ids=["type", "source"])
def test_a_cell_that_no_notebook_can_have_is_skipped_with_the_reason(tmp_path: Path, broken: CellValue) -> None:
    plan = RunPlan.of(document(tmp_path, code("a"), {**code("x"), **broken}, code("b")), range(3))
    assert [record.code for record in plan.records] == ["a", "b"]
    assert list(plan.skipped) == [1]
    assert plan.skipped[1].startswith("invalid: a cell ")


def test_a_source_that_cannot_be_sent_is_run_as_it_is_shown_and_found_again_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [code("x = '\ud800'")], "nbformat": 4, "metadata": {}}), encoding="utf-8")
    found = Document.parse(path.read_bytes(), "a.ipynb")
    plan = RunPlan.of(found, range(1))
    assert plan.records[0].code == "x = '\ufffd'"
    assert plan.cells[0].find(found) == 0


def test_cells_that_may_fail_are_counted_as_the_call_counts(tmp_path: Path) -> None:
    made = document(tmp_path, markdown("t"), code("a"), code("b", tags=["raises-exception"]))
    assert RunPlan.of(made, range(3)).may_fail == {1}


R = {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}, "language_info": {"name": "R"}}


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({}, None),
        ({"kernelspec": {"name": "python3", "language": "python"}, "language_info": {"name": "python"}}, None),
        ({"kernelspec": {"name": "my-env"}, "language_info": {"name": "ipython"}}, None),
        ({"kernelspec": {"name": "my-env", "language": "python"}}, None),
        ({"kernelspec": {"name": "my-env"}}, None),
        ({"language_info": {"name": "Python3"}}, None),
        (R, "ir"),
        ({"kernelspec": {"name": "bash", "language": "bash"}}, "bash"),
        ({"language_info": {"name": "julia"}}, "julia"),
        ({"kernelspec": {"name": ""}, "language_info": {"name": "julia"}}, "julia"),
        ({"kernelspec": "odd", "language_info": 3}, None),
        ({"kernelspec": {"name": 3, "language": "bash"}}, "bash"),
    ],
)
def test_a_notebook_that_is_not_in_python_names_its_kernel(
    tmp_path: Path, metadata: dict[str, Any], name: str | None
) -> None:
    assert kernelspec_of(document(tmp_path, metadata=metadata)) == name
