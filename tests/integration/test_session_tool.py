"""The `session` tool on real kernels: state that is kept, taken back, branched and looked at."""

from pathlib import Path

import anyio
import pytest

from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, kernel_of, runtime_on


async def ask(runtime: Runtime, action: str, **params: object) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        result = await runtime.session(action, **params)
    assert not result.is_error, result.text
    return result


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_undo_and_restore_go_to_what_was(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path, checkpoint="always") as runtime:
        await call(runtime, "import json; x = [1]")
        await ask(runtime, "checkpoint", name="clean")
        await call(runtime, "x.append(2)")
        await call(runtime, "del json, x")
        undone = await ask(runtime, "undo")
        assert (await call(runtime, "json.dumps(x)")).text == "'[1, 2]'"
        restored = await ask(runtime, "restore", name="clean")
        assert (await call(runtime, "json.dumps(x)")).text == "'[1]'"
    assert (undone.details.cells_taken_back, undone.details.cells, undone.details.how) == (1, 2, "exact")
    assert (restored.details.cells_taken_back, restored.details.cells) == (2, 1)


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_a_reset_names_what_it_dropped_and_undo_takes_it_back(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "table = [1, 2]; model = {'a': 1}")
        reset = await call(runtime, "'table' in globals()", reset=True)
        undone = await ask(runtime, "undo", steps=2)
        after = await call(runtime, "table, model")
        assert kernel_of(after).state == "kept"
    assert reset.text == ("False\n\nThe reset dropped 2 variables: model, table. `undo` with steps: 2 takes it back.")
    assert undone.text.startswith("Took back the last cell of session 'default' and the reset. It stands after 1 cell.")
    assert undone.details.reset_taken_back
    assert after.text == "([1, 2], {'a': 1})"


async def test_branches_run_at_the_same_time_and_do_not_see_each_other(ipython_python: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    async with runtime_on(ipython_python, tmp_path, checkpoint="always") as runtime:
        await call(runtime, "x = 1")
        await ask(runtime, "branch", to="trial")
        for name in ("default", "trial"):
            await call(runtime, f"{wait}x = {name!r}\nx", session=name, background=True)
        listed = await ask(runtime, "list")
        gate.touch()
        results = [await ask(runtime, "wait", job=job) for job in ("job-1", "job-2")]
        values = [(await call(runtime, "x", session=name)).text for name in ("default", "trial")]
    assert [(session.id, session.busy) for session in listed.details.sessions] == [("default", True), ("trial", True)]
    assert [result.text.splitlines()[-1] for result in results] == values == ["'default'", "'trial'"]


async def test_variables_are_listed_between_cells_and_while_one_runs(ipython_python: str, tmp_path: Path) -> None:
    async with runtime_on(ipython_python, tmp_path) as runtime:
        await call(runtime, "import numpy as np; a = np.zeros((3, 4)); n = 2")
        now = await ask(runtime, "variables")
        await call(runtime, "n = 'late'; import time; time.sleep(60)", background=True)
        meanwhile = await ask(runtime, "variables")
        await ask(runtime, "interrupt")
        await runtime.session("wait", job="job-1")
    assert {"a: ndarray (3, 4)", "n: int"} <= set(now.text.splitlines())
    assert "n: int" in meanwhile.text.splitlines()
    assert (now.details.as_of_last_cell, meanwhile.details.as_of_last_cell) == (False, True)


async def test_a_job_that_crashes_leaves_the_state_of_before_it(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, checkpoint="always") as runtime:
        await call(runtime, "x = 41")
        await call(runtime, "import os\nx = 0\nos.abort()", background=True)
        with anyio.fail_after(PATIENCE):
            ended = await runtime.session("wait", job="job-1")
        after = await call(runtime, "x + 1")
    assert ended.details.result.outcome == "crashed"
    assert (ended.details.result.kernel.state, after.text) == ("restored", "42")
    assert kernel_of(after).generation == 2
