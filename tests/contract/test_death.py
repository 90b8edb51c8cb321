"""Whatever kills a kernel, the cell gets its `Done` with the truth, and nothing pretends that the state is there."""

import signal
from pathlib import Path

import anyio
import pytest

from pisces.errors import KernelGone
from pisces.kernels.base import ExecuteRequest, Kernel
from tests.contract import cells
from tests.fakes.drive import PATIENCE, begin, ok, run


@pytest.mark.parametrize("code", [cells.KILL_ITSELF, cells.SEGFAULT, cells.LEAVE_WITH_0, cells.LEAVE_WITH_3])
async def test_a_death_in_a_cell_is_told_and_the_state_said_to_be_lost(fresh: Kernel, code: str) -> None:
    ran = await run(fresh, code)
    assert (ran.done.status, ran.done.state) == ("crashed", "lost")
    assert ran.done.process_exit is not None
    assert not await fresh.is_alive()
    with pytest.raises(KernelGone):
        await fresh.execute(ExecuteRequest("1"))


@pytest.mark.parametrize(
    ("code", "exit_code", "signum"),
    [
        (cells.KILL_ITSELF, None, signal.SIGKILL),
        (cells.SEGFAULT, None, signal.SIGSEGV),
        (cells.LEAVE_WITH_0, 0, None),
        (cells.LEAVE_WITH_3, 3, None),
    ],
)
@pytest.mark.needs_exit_status
async def test_a_death_in_a_cell_is_told_as_it_happened(
    fresh: Kernel, code: str, exit_code: int | None, signum: int | None
) -> None:
    ran = await run(fresh, code)
    assert ran.done.process_exit is not None
    assert (ran.done.process_exit.code, ran.done.process_exit.signal) == (exit_code, signum)


@pytest.mark.needs_last_words
async def test_the_last_words_of_a_dying_kernel_arrive(fresh: Kernel) -> None:
    assert (await run(fresh, cells.KILL_ITSELF)).stdout == "last words\n"


@pytest.mark.needs_process
@pytest.mark.needs_exit_status
async def test_a_crash_in_c_code_names_the_line(fresh: Kernel) -> None:
    ran = await run(fresh, "import ctypes\ndef touch():\n    ctypes.string_at(0)\ntouch()")
    assert ran.done.process_exit is not None
    assert "touch" in ran.done.process_exit.detail


@pytest.mark.needs_process
async def test_a_death_between_cells_is_seen_before_the_next(fresh: Kernel, tmp_path: Path) -> None:
    go = tmp_path / "go"
    code = f"""
import os, threading, time
def leave():
    while not os.path.exists({str(go)!r}): time.sleep(0.01)
    os._exit(7)
threading.Thread(target=leave, daemon=True).start()
"""
    await ok(fresh, code)
    go.touch()
    for _ in range(int(PATIENCE / 0.01)):
        if not await fresh.is_alive():
            break
        await anyio.sleep(0.01)
    with pytest.raises(KernelGone):
        await fresh.execute(ExecuteRequest("1"))


async def test_a_kill_gives_the_running_cell_its_end(fresh: Kernel) -> None:
    running = await begin(fresh, cells.SLEEP)
    await running.prints("ready")
    await fresh.kill()
    ran = await running.finish()
    assert (ran.done.status, ran.done.state) == ("crashed", "lost")
    assert not await fresh.is_alive()


@pytest.mark.needs_exit_status
async def test_a_kill_is_told_as_such(fresh: Kernel) -> None:
    running = await begin(fresh, cells.SLEEP)
    await running.prints("ready")
    await fresh.kill()
    ran = await running.finish()
    assert ran.done.process_exit is not None
    assert ran.done.process_exit.signal == signal.SIGKILL


async def test_a_shutdown_gives_the_running_cell_its_end(fresh: Kernel) -> None:
    running = await begin(fresh, cells.SLEEP)
    await running.prints("ready")
    await fresh.shutdown()
    assert (await running.finish()).done.status == "crashed"
