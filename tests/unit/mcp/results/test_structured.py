"""Results as data."""

import pytest

from pisces.mcp.results.structured import structured, wants_structured
from pisces.model.cells import CellRecord
from pisces.model.events import Variable, VariableChanges
from pisces.model.notebooks import NotebookRunDetails
from pisces.model.results import Block, CellError, Details, ImageBlock, JobInfo, TextBlock, ToolResult
from pisces.model.sessions import SessionDetails
from pisces.tools.base import error_result


@pytest.mark.parametrize("program", ["claude-code", "Claude-Code", "codex-mcp-client", "codex", "opencode"])
def test_programs_that_would_hide_text_and_pictures_get_no_data(program: str) -> None:
    assert not wants_structured(program)


@pytest.mark.parametrize("program", ["", "claude-ai", "cursor-vscode", "Visual Studio Code", "my-codex"])
def test_other_programs_get_data(program: str) -> None:
    assert wants_structured(program)


def test_a_refusal_says_so() -> None:
    assert structured(error_result("No.")) == {"outcome": "refused", "text": "Error: No."}


def test_cells_say_how_they_went_and_what_they_changed() -> None:
    changes = VariableChanges(added=(Variable("x", "int"),), removed=("y",))
    record = CellRecord(index=0, code="x = 1", title="first", status="error", exit_code=1, duration_ms=1234.5678)
    job = JobInfo(
        id="job-1", session="s", state="running", title="first", cells=1, cells_done=0, started="", seconds=0.0
    )
    details = Details(
        cells=[record], session="s", outcome="error", variables=changes, artifact_id="7", job=job, is_error=True
    )
    content: list[Block] = [TextBlock("one"), ImageBlock("QUJD", "image/png"), TextBlock("two")]
    assert structured(ToolResult(content=content, details=details, is_error=True)) == {
        "outcome": "error",
        "text": "one\n\ntwo",
        "images": 1,
        "session": "s",
        "cells": [{"status": "error", "title": "first", "exit_code": 1, "seconds": 1.235}],
        "variables": {"added": ["x"], "removed": ["y"]},
        "artifact": "7",
        "job": "job-1",
    }


def test_the_result_of_a_job_says_what_its_cell_raised() -> None:
    raised = CellError("ValueError", "no", ["ValueError: no"], 0)
    details = SessionDetails(action="wait", session="s", result=Details(outcome="error", error=raised, is_error=True))
    data = structured(ToolResult(content=[TextBlock("failed")], details=details, is_error=True))
    assert data["details"] == {
        "action": "wait",
        "session": "s",
        "error": {"ename": "ValueError", "evalue": "no", "traceback": ["ValueError: no"], "cell": 0},
    }


@pytest.mark.parametrize("written", [True, False])
def test_cells_of_a_notebook_that_went_well_are_an_error_if_their_outputs_are_lost(written: bool) -> None:
    details = NotebookRunDetails(
        action="run_all", notebook_path="n.ipynb", total_cells=3, ran=[0, 2], skipped={1: "empty"}, written=written
    )
    result = ToolResult(content=[TextBlock("ran")], details=details, is_error=not written)
    assert structured(result) == {
        "outcome": "ok" if written else "error",
        "text": "ran",
        "details": {
            "action": "run_all",
            "notebook_path": "n.ipynb",
            "total_cells": 3,
            "ran": [0, 2],
            "not_run": [],
            "skipped": {"1": "empty"},
            "overwritten": [],
            "written": written,
            "unwritten": [],
        },
    }


@pytest.mark.parametrize("wrong", [False, True])
def test_other_tools_have_their_details_beside_the_text(wrong: bool) -> None:
    details = {"result": "left out", "is_error": wrong, "path": "a.txt", "nothing": None}
    result = ToolResult(content=[TextBlock("read")], details=details, is_error=wrong)
    outcome = "error" if wrong else "ok"
    assert structured(result) == {"outcome": outcome, "text": "read", "details": {"path": "a.txt"}}
