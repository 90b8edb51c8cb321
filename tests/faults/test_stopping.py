"""Cells that do not want to end: each is stopped within the grace, and what the call says of it is true."""

import time
from pathlib import Path

import anyio
import pytest

from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import IgnoreInterrupt, WaitFor
from pisces.model.events import Stream
from tests.fakes.runtimes import begin, call, details, kernel_of, pool_of, runtime_on, scripted_runtime

GRACE = 0.5
DEAF = """
import time
print('begun', flush=True)
while True:
    try:
        time.sleep(60)
    except BaseException:
        print('ignored', flush=True)
"""
HOLDS_THE_GIL = """
import collections, itertools
print('begun', flush=True)
collections.deque(itertools.repeat(None), maxlen=0)
"""


# A cell that catches BaseException in a loop; a C extension that holds the GIL and ignores SIGINT.
@pytest.mark.parametrize("code", [DEAF, HOLDS_THE_GIL], ids=["catches-everything", "holds-the-gil"])
async def test_a_cell_that_ignores_interrupts_costs_its_kernel_and_no_more_than_the_grace(
    plain_python: str, tmp_path: Path, code: str
) -> None:
    async with runtime_on(plain_python, tmp_path, interrupt_grace=GRACE) as runtime:
        await call(runtime, "x = 1")
        began = time.monotonic()
        result = await call(runtime, code, timeout=1)
        assert time.monotonic() - began < 1 + GRACE + 10  # 2, with five times slack.
        after = await call(runtime, "x + 1")
    assert details(result).outcome == "timeout"
    assert "begun" in result.text
    assert "Command timed out after 1 seconds" in result.text
    assert result.text.startswith(
        "[State: restored] The cell did not stop within 0.5 seconds of being interrupted, so the kernel was killed."
    )
    assert (kernel_of(result).state, kernel_of(after).generation, after.text) == ("restored", 2, "2")


# SIGINT during a top-level await ends the kernel.
@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_a_timeout_in_a_top_level_await_keeps_the_kernel(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "import asyncio\nx = 1")
        result = await call(runtime, "await asyncio.sleep(60)", timeout=1)
        after = await call(runtime, "await asyncio.sleep(0)\nx")
    assert details(result).outcome == "timeout"
    assert "KeyboardInterrupt" in result.text
    assert (kernel_of(after).generation, after.text) == (1, "1")


# The interrupted cell is reported as settled while it still runs, and the next cell queues behind it.
async def test_the_call_comes_back_when_the_interrupted_cell_has_settled(plain_python: str, tmp_path: Path) -> None:
    code = "import time\ntry:\n    time.sleep(60)\nfinally:\n    time.sleep(0.5)\n    print('cleaned up')"
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "pass")
        result = await call(runtime, code, timeout=1)
        after = await call(runtime, "print('next')")
    assert "cleaned up" in result.text
    assert kernel_of(result).state == "kept"
    assert after.text == "next"


# The timeout note is lost in a race between two timers.
async def test_a_cell_that_ends_by_itself_when_it_is_interrupted_still_timed_out(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": [Stream("stdout", "begun\n"), IgnoreInterrupt(), Stream("stdout", "end\n")]})
    async with scripted_runtime(backend, tmp_path) as runtime:
        result = await call(runtime, "x", timeout=1)
    assert result.text == "begun\nend\n\nCommand timed out after 1 seconds\nCommand exited with code 124"
    assert (details(result).outcome, details(result).cancelled) == ("timeout", True)


# A cell that runs longer than the idle limit is evicted while it runs.
async def test_a_cell_that_runs_longer_than_the_idle_limit_is_left_alone(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"x": [Stream("stdout", "begun\n"), WaitFor(go), Stream("stdout", "end\n")]})
    async with scripted_runtime(backend, tmp_path, idle_timeout=0.1) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, "x")
        await running.watcher.prints("begun")
        pool = pool_of(runtime)
        pool.disconnect("runtime")
        (session,) = pool.sessions
        session.last_used -= 3600
        with anyio.move_on_after(1):
            await pool.evict_idle()
        assert not session.closed
        go.set()
        result = await running.finish()
    assert result.text == "begun\nend"
