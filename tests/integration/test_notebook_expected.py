"""The tag `raises-exception` is for exceptions: what else stops a cell of a notebook is no success."""

from pathlib import Path

import pytest

from tests.fakes.notebooks import ask, code, run_details, written
from tests.fakes.runtimes import call, runtime_on


@pytest.mark.parametrize(
    ("source", "params", "outcome", "exit_code"),
    [
        ("import os; os.abort()", {}, "crashed", 134),
        ("import time; time.sleep(60)", {"timeout": 1}, "timeout", 124),
        ("raise KeyboardInterrupt", {}, "interrupted", 130),
    ],
    ids=["a crash", "a timeout", "an interrupt"],
)
async def test_what_is_no_exception_stops_the_run_whatever_the_tag(
    plain_python: str, tmp_path: Path, source: str, params: dict[str, int], outcome: str, exit_code: int
) -> None:
    expected = ["raises-exception"]
    file = written(tmp_path / "a.ipynb", code("1 / 0", tags=expected), code(source, tags=expected), code("2"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "pass")  # The time is for the cells, not for the start.
        result = await ask(runtime, "run_all", file, **params)
    details = run_details(result)
    assert (result.is_error, details.outcome, details.not_run) == (True, outcome, [2])
    assert f"Cell 1 failed (exit code {exit_code}).\nFailed as expected (raises-exception): cell 0.\n" in result.text
