"""How the last cell of a call ended, in the words of its closing line."""

import pytest

from pisces.cli.live_screen import Ended
from pisces.cli.watched import how_it_ended
from pisces.model.cells import CellRecord, CellStatus
from pisces.model.results import Details, JobInfo, Outcome, ToolResult


def result(status: CellStatus, outcome: Outcome, *, exit_code: int | None = None, job: bool = False) -> ToolResult:
    record = CellRecord(index=0, code="1", status=status, duration_ms=5.0, exit_code=exit_code)
    going_on = JobInfo(
        id="job-1", session="s", state="running", title="1", cells=1, cells_done=0, started="", seconds=0.0
    )
    return ToolResult(content=[], details=Details(cells=[record], outcome=outcome, job=going_on if job else None))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (result("complete", "ok"), Ended("complete", 5.0)),
        (result("error", "error", exit_code=1), Ended("error", 5.0, "failed")),
        (result("error", "error", exit_code=3), Ended("error", 5.0, "failed, exit code 3")),
        (result("error", "error", exit_code=0), Ended("error", 5.0, "exited with code 0")),
        (result("error", "timeout"), Ended("error", 5.0, "timed out")),
        (result("error", "crashed"), Ended("error", 5.0, "crashed")),
        (result("complete", "error"), Ended("complete", 5.0)),
        (result("running", "ok", job=True), None),
        (ToolResult(content=[], details=Details(outcome="disconnected")), Ended("error", word="disconnected")),
        (ToolResult(content=[], is_error=True), Ended("error", word="failed")),
    ],
)
def test_an_end_has_its_word(given: ToolResult, expected: Ended | None) -> None:
    assert how_it_ended(given, 0) == expected


def test_without_a_cell_there_is_no_end() -> None:
    assert how_it_ended(result("pending", "aborted"), None) is None
