"""Cells that go on in the background of real kernels: nothing is lost, nothing is left."""

from pathlib import Path

import anyio
import pytest

from pisces.model.results import Details, JobInfo, ToolResult
from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import begin, call, details, kernel_of, pool_of, runtime_on
from tests.frontends.command import Command

SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(60)"


def job_of(result: ToolResult) -> JobInfo:
    job = details(result).job
    assert job is not None, result.text
    return job


async def ask(runtime: Runtime, action: str, **params: object) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        return await runtime.session(action, **params)


def result_in(result: ToolResult) -> Details:
    assert isinstance(result.details.result, Details), result.text
    found: Details = result.details.result
    return found


async def prints(runtime: Runtime, job: str, text: str) -> None:
    """Wait until the job has written this."""
    assert runtime._services is not None
    sink = runtime._services.jobs.get(job).subject.transcript.sink
    await eventually(lambda: text in sink.tail(), within=PATIENCE)


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_a_background_cell_is_read_while_it_runs_and_its_state_stays(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    gate = tmp_path / "gate"
    code = (
        "import os, time\nprint('begun', flush=True)\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\nx = 42\nx"
    )
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        started = await call(runtime, code, background=True)
        await prints(runtime, "job-1", "begun")
        seen = await ask(runtime, "output", job="job-1")
        running = await ask(runtime, "wait", job="job-1", timeout=0)
        gate.touch()
        ended = await ask(runtime, "wait", job="job-1")
        after = await call(runtime, "x + 1")
    assert (job_of(started).state, started.is_error) == ("running", False)
    assert seen.text.splitlines()[-1] == "begun"
    assert running.text.startswith("[Still running: job-1")
    assert (result_in(ended).outcome, ended.text.splitlines()[-1]) == ("ok", "42")
    assert after.text == "43"


async def test_a_cancelled_job_stops_and_the_state_of_before_is_there(ipython_python: str, tmp_path: Path) -> None:
    async with runtime_on(ipython_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        await call(runtime, SLEEP, background=True)
        await prints(runtime, "job-1", "begun")
        stopped = await ask(runtime, "cancel", job="job-1")
        after = await call(runtime, "x")
    assert result_in(stopped).outcome == "interrupted"
    assert (after.text, kernel_of(after).state, kernel_of(after).generation) == ("1", "kept", 1)


async def test_a_slow_call_goes_to_the_background_and_a_quick_one_does_not(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, auto_background_ms=4000) as runtime:
        quick = await call(runtime, "1 + 1")
        slow = await call(runtime, SLEEP)
        assert job_of(slow).state == "running"
        stopped = await ask(runtime, "cancel", job=job_of(slow).id)
    assert (quick.text, details(quick).job) == ("2", None)
    assert slow.text.startswith("begun")
    assert result_in(stopped).outcome == "interrupted"


async def test_a_caller_that_is_cancelled_after_the_call_went_on_takes_nothing_with_it(
    plain_python: str, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    code = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\nprint('done')"
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        caller = begin(group, runtime, code, background=True)
        await caller.finish()
        caller.scope.cancel()
        await runtime.leave("runtime")
        gate.touch()
        ended = await ask(runtime, "wait", job="job-1")
        await eventually(lambda: pool_of(runtime).sessions == [])
    assert (result_in(ended).outcome, ended.text.splitlines()[-1]) == ("ok", "done")


async def test_the_end_of_the_runtime_leaves_no_process_of_a_job(
    plain_python: str, tmp_path: Path, no_descriptor_is_left: None
) -> None:
    code = "import subprocess\nprint('begun', flush=True)\nsubprocess.run(['sleep', '60'])"
    with anyio.fail_after(PATIENCE):
        async with runtime_on(plain_python, tmp_path, kernel_mode="per-call") as runtime:
            await call(runtime, code, background=True)
            await prints(runtime, "job-1", "begun")
            assert runtime._services is not None
            job = runtime._services.jobs.get("job-1")
    assert job.result is not None
    assert details(job.result).outcome == "interrupted"


async def test_closing_the_session_ends_its_job(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, SLEEP, background=True)
        await prints(runtime, "job-1", "begun")
        closed = await ask(runtime, "close")
        ended = await ask(runtime, "wait", job="job-1")
    assert "job-1 was ended with it" in closed.text
    assert result_in(ended).outcome == "interrupted"


async def test_a_job_whose_kernel_crashes_says_how(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        await call(runtime, "import os\nos.abort()", background=True)
        ended = await ask(runtime, "wait", job="job-1")
    assert ended.is_error
    assert result_in(ended).outcome == "crashed"
    assert "SIGABRT" in ended.text


def test_a_command_stays_to_the_end_of_its_cells(plain_python: str) -> None:
    code = "import time; print('begun', flush=True); time.sleep(0.5); print('done')"
    ran = Command(plain_python)("run", "-c", code, variables={"PI_SET__python__autoBackgroundMs": "50"})
    assert (ran.returncode, ran.stdout) == (0, "begun\ndone\n"), ran.stderr
