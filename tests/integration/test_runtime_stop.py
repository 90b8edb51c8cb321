"""Timeouts, aborts and cancellation of real cells: they settle before the call is over, and the state stays."""

import asyncio
import time
from pathlib import Path

import anyio
import pytest

from pisces.errors import InvalidCall
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import Watcher, begin, call, details, kernel_of, runtime_on

SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(60)"


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_a_timeout_interrupts_the_cell_and_keeps_the_state(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "pass")  # The time is for the cells, not for the start.
        result = await call(runtime, ["x = 1", SLEEP, "y = 2"], timeout=1)
        after = await call(runtime, "x, 'y' in globals()")
    found = details(result)
    assert (found.outcome, found.cancelled, found.cells[1].exit_code) == ("timeout", True, 124)
    assert [record.status for record in found.cells] == ["complete", "error", "pending"]
    assert "begun" in result.text
    assert result.text.endswith(
        "Command timed out after 1 seconds\n"
        "Cell 2 failed (exit code 124). Earlier cells succeeded; their state persists. Fix only cell 2."
    )
    assert kernel_of(result).state == "kept"
    assert after.text == "(1, False)"


async def test_one_deadline_counts_for_all_cells_together(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await call(runtime, ["import time", *["time.sleep(0.4)"] * 10], timeout=1)
    assert details(result).outcome == "timeout"
    assert [record.status for record in details(result).cells].count("complete") <= 3


@pytest.mark.parametrize(("asked", "given"), [(0, 1), (-5, 1), (0.001, 1), (9, 2)])
async def test_a_timeout_is_brought_into_the_range(plain_python: str, tmp_path: Path, asked: float, given: int) -> None:
    async with runtime_on(plain_python, tmp_path, max_timeout=2) as runtime:
        result = await call(runtime, SLEEP, timeout=asked)
    assert f"Command timed out after {given} seconds" in result.text


async def test_setting_the_event_interrupts_the_cell(ipython_python: str, tmp_path: Path) -> None:
    abort = anyio.Event()
    async with runtime_on(ipython_python, tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, ["x = 1", SLEEP], abort=abort)
        await running.watcher.prints("begun")
        abort.set()
        result = await running.finish()
        assert (await call(runtime, "x")).text == "1"
    found = details(result)
    assert (found.outcome, found.cancelled, found.cells[1].exit_code) == ("interrupted", True, 130)
    assert "Command was interrupted" in result.text


async def test_a_cancelled_task_goes_on_cancelling_when_the_cell_has_settled(plain_python: str, tmp_path: Path) -> None:
    settled = tmp_path / "settled"
    code = "import time\ntry:\n    print('begun', flush=True)\n    time.sleep(60)\nfinally:\n"
    code += f"    time.sleep(0.2)\n    open({str(settled)!r}, 'w').close()"
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, code)
        await running.watcher.prints("begun")
        running.scope.cancel()
        await running.ended.wait()
        assert settled.exists()
        assert running.scope.cancelled_caught
        after = await call(runtime, "1 + 1")
    assert after.text == "2"
    assert kernel_of(after).generation == 1


async def test_a_task_that_is_cancelled_twice_waits_for_its_cell_all_the_same(
    plain_python: str, tmp_path: Path
) -> None:
    settled, stopping = tmp_path / "settled", tmp_path / "stopping"
    code = "import time\ntry:\n    print('begun', flush=True)\n    time.sleep(60)\nfinally:\n"
    code += f"    open({str(stopping)!r}, 'w').close()\n"
    code += f"    time.sleep(0.2)\n    open({str(settled)!r}, 'w').close()"
    async with runtime_on(plain_python, tmp_path) as runtime:
        watcher = Watcher()
        calling = asyncio.ensure_future(runtime.python(code=code, on_update=watcher))
        await watcher.prints("begun")
        calling.cancel()
        await eventually(stopping.exists)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert settled.exists()
        after = await call(runtime, "1 + 1")
    assert after.text == "2"
    assert kernel_of(after).generation == 1


async def test_a_cell_that_had_to_be_killed_for_a_cancelled_task_is_told_by_the_next_call(
    plain_python: str, tmp_path: Path
) -> None:
    deaf = """
import time
while True:
    try:
        print('begun', flush=True)
        time.sleep(60)
    except BaseException: pass
"""
    async with (
        runtime_on(plain_python, tmp_path, interrupt_grace=0.2) as runtime,
        anyio.create_task_group() as group,
    ):
        running = begin(group, runtime, deaf)
        await running.watcher.prints("begun")
        running.scope.cancel()
        await running.ended.wait()
        after = await call(runtime, "1 + 1")
    assert after.text.startswith("[State: restored] The cell did not stop within 0.2 seconds of being interrupted")
    assert kernel_of(after).generation == 2


async def test_a_call_is_heard_while_it_runs(plain_python: str, tmp_path: Path) -> None:
    watcher = Watcher()
    go = tmp_path / "go"
    code = f"import os, time\nprint('part')\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nprint('rest')"
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, code)
        update = await running.watcher.prints("part")
        assert update.cells[0].status == "running"
        assert update.cells[0].output == "part\n"
        go.touch()
        assert (await running.finish()).text == "part\nrest"
        await call(runtime, "print('quick')", on_update=watcher)
    assert watcher.updates[-1].tail == "quick\n"
    assert [update.cells[0].status for update in watcher.updates][-1] == "complete"


async def test_leaving_the_runtime_ends_a_running_call(plain_python: str, tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        async with runtime_on(plain_python, tmp_path, interrupt_grace=1) as runtime:
            running = begin(group, runtime, SLEEP)
            await running.watcher.prints("begun")
            left = time.monotonic()
        result = await running.finish()
    assert details(result).outcome == "interrupted"
    assert time.monotonic() - left < PATIENCE  # The cell would have gone on for a minute.


async def test_an_error_of_the_callers_passes_through_the_runtime_as_it_is(plain_python: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match="timeout"):
        async with runtime_on(plain_python, tmp_path) as runtime:
            await runtime.python(code="1", timeout=float("nan"))
