"""Runs of notebooks that end early: what was said until then is in the file, and the file says why it is no more."""

import signal
from pathlib import Path

import anyio
import pytest

from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.notebooks import (
    ask,
    begin_asking,
    cells_in,
    code,
    is_as_jupyter_writes_it,
    outputs_in,
    ran,
    run_details,
    text_in,
    written,
)
from tests.fakes.runtimes import call, details, kernel_of, runtime_on

SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
INTERPRETERS = pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])


@INTERPRETERS
async def test_a_timeout_keeps_the_state_and_the_interrupt_is_in_the_outputs(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    file = written(tmp_path / "a.ipynb", code("x = 1"), code(SLEEP), ran(code("never"), "old\n"))
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "pass")  # The time is that of the cells, not that of the start.
        result = await ask(runtime, "run_all", "a.ipynb", timeout=2)
        after = await call(runtime, "x")
    found = run_details(result)
    assert (result.is_error, found.outcome, found.ran, found.not_run) == (True, "timeout", [0, 1], [2])
    assert "Command timed out after 2 seconds" in result.text
    printed, error = outputs_in(file, 1)
    assert (printed["text"], error["ename"]) == (["begun\n"], "KeyboardInterrupt")
    assert text_in(file, 2) == "old\n"
    assert (after.text, kernel_of(after).state) == ("1", "kept")
    assert is_as_jupyter_writes_it(file)


@pytest.mark.parametrize(
    ("death", "how"),
    [
        ("import os; os._exit(3)", "code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", signal.SIGSEGV.name),
    ],
    ids=["exit", "segfault"],
)
@INTERPRETERS
async def test_a_crash_is_told_in_the_notebook_and_the_state_of_before_is_back(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str, death: str, how: str
) -> None:
    file = written(tmp_path / "a.ipynb", code("x = 41"), code(f"print('before', flush=True)\n{death}"), code("x + 1"))
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path, checkpoint="always") as runtime:
        result = await ask(runtime, "run_all", "a.ipynb")
        after = await ask(runtime, "run", "a.ipynb", cell_index=2)
    assert result.text.startswith("[State: restored")
    assert (result.is_error, run_details(result).not_run) == (True, [2])
    printed, error = outputs_in(file, 1)
    assert (printed["text"], error["output_type"], error["ename"]) == (["before\n"], "error", "KernelDied")
    assert how in error["evalue"]
    assert (after.is_error, outputs_in(file, 2)[0]["data"]) == (False, {"text/plain": ["42"]})
    assert is_as_jupyter_writes_it(file)


async def test_a_crash_that_was_expected_is_a_failure_all_the_same(plain_python: str, tmp_path: Path) -> None:
    file = written(
        tmp_path / "a.ipynb", code("import os; os._exit(3)", tags=["raises-exception"]), ran(code("never"), "old\n")
    )
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", "a.ipynb")
    assert (result.is_error, run_details(result).not_run, text_in(file, 1)) == (True, [1], "old\n")
    assert outputs_in(file, 0)[0]["ename"] == "KernelDied"


@INTERPRETERS
async def test_an_abort_ends_the_run_and_what_was_said_stays(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    file = written(tmp_path / "a.ipynb", code(SLEEP), code("never"))
    abort = anyio.Event()
    async with (
        runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime,
        anyio.create_task_group() as group,
    ):
        asked = begin_asking(group, runtime, "run_all", "a.ipynb", abort=abort)
        await asked.watcher.prints("begun")
        abort.set()
        result = await asked.finish()
    assert (result.is_error, run_details(result).outcome) == (True, "interrupted")
    assert (text_in(file, 0), outputs_in(file, 0)[1]["ename"]) == ("begun\n", "KeyboardInterrupt")


async def test_an_abort_before_the_start_changes_nothing(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", ran(code("print(1)"), "old\n", 3))
    before = cells_in(file)
    abort = anyio.Event()
    abort.set()
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", "a.ipynb", abort=abort)
    assert result.is_error
    assert cells_in(file) == before


async def test_a_call_that_is_cancelled_leaves_the_outputs_so_far(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("print('first')\nx = 1"), code(SLEEP))
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        asked = begin_asking(group, runtime, "run_all", "a.ipynb")
        await asked.watcher.prints("begun")
        asked.scope.cancel()
        await asked.settled()
        assert [text_in(file, index) for index in (0, 1)] == ["first\n", "begun\n"]
        assert (await call(runtime, "x")).text == "1"
    assert is_as_jupyter_writes_it(file)


async def test_a_run_in_the_background_is_in_the_file_when_its_job_has_ended(plain_python: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    wait = f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    file = written(tmp_path / "a.ipynb", code(f"{wait}print('ended')"), code("6 * 7"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        started = await ask(runtime, "run_all", "a.ipynb", background=True)
        await eventually(lambda: text_in(file, 0) == "begun\n", within=PATIENCE)
        gate.touch()
        with anyio.fail_after(PATIENCE):
            ended = await runtime.session("wait", job="job-1")
        assert text_in(file, 0) == "begun\nended\n"
        assert outputs_in(file, 1)[0]["data"] == {"text/plain": ["42"]}
    job = details(started).job
    assert job is not None
    assert (job.id, job.state, started.is_error) == ("job-1", "running", False)
    assert "Ran 2 cells; the outputs are in a.ipynb." in ended.text


async def test_a_job_that_is_cancelled_leaves_the_outputs_so_far(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code(SLEEP))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await ask(runtime, "run_all", "a.ipynb", background=True)
        await eventually(lambda: text_in(file, 0) == "begun\n", within=PATIENCE)
        with anyio.fail_after(PATIENCE):
            await runtime.session("cancel", job="job-1")
    assert [output.get("ename") for output in outputs_in(file, 0)] == [None, "KeyboardInterrupt"]


async def test_a_runtime_that_is_left_while_a_notebook_runs_leaves_the_outputs_so_far(
    plain_python: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.ipynb", code(SLEEP))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await ask(runtime, "run_all", "a.ipynb", background=True)
        await eventually(lambda: text_in(file, 0) == "begun\n", within=PATIENCE)
    assert text_in(file, 0) == "begun\n"
    assert is_as_jupyter_writes_it(file)
