"""Sessions over real processes: their own kernels, their ends, and everything that kernels had started."""

import os
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.model.results import ToolResult
from tests.environments import interpreter_of
from tests.fakes.drive import eventually
from tests.fakes.runtimes import begin, call, details, kernel_of, runtime_on
from tests.integration.native.processes import stop

SHARED_MEMORY = "/dev/shm"
PID = "import os\nprint(os.getpid())"


def process_of(result: ToolResult) -> psutil.Process:
    """The process whose number was printed last."""
    return psutil.Process(int(result.text.splitlines()[-1]))


async def test_sessions_of_different_names_have_different_kernels(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        other = await call(runtime, "'x' in globals()", session="other")
        assert (other.text.endswith("\n\nFalse"), details(other).session) == (True, "other")
        assert (await call(runtime, "x")).text == "1"


async def test_another_interpreter_is_another_session(plain_python: str, ipython_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        result = await call(runtime, "import IPython\n'x' in globals()", kernel=ipython_python)
        assert result.text == "False"
        assert kernel_of(result).interpreter == ipython_python
        assert (await call(runtime, "x")).text == "1"


async def test_a_reset_gives_an_empty_kernel_and_ends_what_the_old_one_started(
    plain_python: str, tmp_path: Path
) -> None:
    start = "import subprocess\nx = 1\nprint(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)"
    async with runtime_on(plain_python, tmp_path) as runtime:
        child = process_of(await call(runtime, start))
        result = await call(runtime, "'x' in globals()", reset=True)
        assert not child.is_running()
    assert result.text.startswith("False\n\nThe reset dropped 1 variable: x.")
    assert (kernel_of(result).generation, kernel_of(result).state) == (2, "kept")


async def test_in_per_call_mode_no_state_and_no_process_stays(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, kernel_mode="per-call") as runtime:
        first = await call(runtime, "x = 1\n" + PID)
        assert not psutil.pid_exists(int(first.text))
        assert (await call(runtime, "'x' in globals()")).text == "False"


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_a_kernel_that_is_killed_in_a_cell_is_told_with_its_output(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "x = 1")
        result = await call(
            runtime, "import os, signal\nprint('last words', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
        )
        after = await call(runtime, "'x' in globals()")
    found = details(result)
    assert result.text.startswith("[State: restored] The kernel was ended by SIGKILL.")
    assert "last words" in result.text
    assert (found.outcome, found.cells[0].exit_code) == ("crashed", 137)
    assert after.text == "True"
    assert (kernel_of(after).generation, kernel_of(after).state) == (2, "kept")


async def test_a_crash_in_c_code_names_the_users_line(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await call(runtime, "import ctypes\nctypes.string_at(0)")
    assert result.text.startswith("[State: restored] The kernel was ended by SIGSEGV. No cell had finished before")
    assert "line 2" in result.text
    assert details(result).cells[0].exit_code == 139


async def test_a_kernel_that_is_killed_between_calls_comes_back_and_that_is_told(
    plain_python: str, tmp_path: Path
) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        process = process_of(await call(runtime, PID))  # A cell runs when the checkpoint of before it has been made.
        process.kill()
        await eventually(lambda: not process.is_running())
        result = await call(runtime, "'x' in globals()")
    assert result.text.startswith("[State: restored] The kernel had ended since the last call.")
    assert "\n\nTrue" in result.text


async def test_a_call_to_a_stopped_kernel_costs_no_state(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, interrupt_grace=5) as runtime:
        process = process_of(await call(runtime, PID))
        await stop(process.pid)
        result = await call(runtime, "import time\ntime.sleep(60)", timeout=1)
        assert process_of(await call(runtime, PID)).pid == process.pid
    assert details(result).outcome == "timeout"
    assert "was stopped by a signal" in result.text


async def test_a_flood_is_cut_stopped_and_kept(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "pass")
        result = await call(runtime, "while True: print('x' * 1000)", timeout=1)
        assert (await call(runtime, "1 + 1")).text == "2"
    found = details(result)
    assert (found.outcome, kernel_of(result).state) == ("timeout", "kept")
    assert found.truncation is not None
    assert found.full_output_path is not None
    assert os.stat(found.full_output_path).st_size >= found.truncation.total_bytes > 1_000_000


async def test_calls_that_begin_together_share_the_first_kernel(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        calls = [begin(group, runtime, PID) for _ in range(5)]
        pids = {(await one.finish()).text for one in calls}
    assert len(pids) == 1


async def test_an_interpreter_that_is_a_broken_link_is_named(tmp_path: Path) -> None:
    link = tmp_path / "python"
    link.symlink_to(tmp_path / "nowhere")
    async with runtime_on(str(link), tmp_path) as runtime:
        result = await call(runtime, "1 + 1")
    assert result.is_error
    assert result.text.startswith("Error: ")
    assert str(link) in result.text


async def test_a_kernel_whose_supervisor_is_killed_is_lost_and_replaced(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        process = process_of(await call(runtime, PID))
        supervisor = process.parent()
        assert supervisor is not None
        supervisor.kill()
        await eventually(lambda: not process.is_running())
        result = await call(runtime, "1 + 1")
    assert result.text.startswith(
        "[State: lost] The kernel had ended since the last call: it was ended together with its checkpoints, "
        "because its supervisor process ended."
    )
    assert result.text.endswith("2")


async def test_a_stopped_supervisor_costs_no_state(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        process = process_of(await call(runtime, PID))
        supervisor = process.parent()
        assert supervisor is not None
        await stop(supervisor.pid)
        crashed = await call(runtime, "import os\nos._exit(3)")
        await call(runtime, "x = 2")
        await stop(supervisor.pid)
        await runtime.session("undo")
        assert (await call(runtime, "x")).text == "1"
    assert crashed.text.startswith("[State: restored] The kernel exited with code 3. The state was restored exactly")


SHARE = """
from multiprocessing.shared_memory import SharedMemory
m = SharedMemory(create=True, size=1)
print(m.name, flush=True)
"""


async def test_shared_memory_that_a_cell_left_is_removed_with_its_kernel(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        block = (await call(runtime, SHARE)).text
        assert block in os.listdir(SHARED_MEMORY)
        await call(runtime, "1", reset=True)
        assert block not in os.listdir(SHARED_MEMORY)


async def test_shared_memory_of_a_cell_that_was_taken_back_is_removed(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        block = (await call(runtime, SHARE)).text
        assert block in os.listdir(SHARED_MEMORY)
        await runtime.session("undo")
        await eventually(lambda: block not in os.listdir(SHARED_MEMORY))


async def test_shared_memory_is_removed_after_the_end_of_a_supervisor(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        block = (await call(runtime, SHARE)).text
        supervisor = process_of(await call(runtime, PID)).parent()
        assert supervisor is not None
        supervisor.kill()
        await eventually(lambda: block not in os.listdir(SHARED_MEMORY))


async def test_shared_memory_is_removed_after_a_crash_beside_workers(plain_python: str, tmp_path: Path) -> None:
    workers = "import multiprocessing, os\npool = multiprocessing.get_context('fork').Pool(1)\nos._exit(1)"
    async with runtime_on(plain_python, tmp_path) as runtime:
        text = (await call(runtime, SHARE + workers)).text
        block = next(line for line in text.splitlines() if line.startswith("psm_"))
        await eventually(lambda: block not in os.listdir(SHARED_MEMORY))


LOKY = """
import numpy, os
from joblib import Parallel, delayed
table = numpy.zeros(1_000_000)
print(os.getpid(), Parallel(n_jobs=2)(delayed(len)(table) for _ in range(4)))
"""


@pytest.mark.parametrize("end", ["crash", "undo", "supervisor"])
async def test_what_workers_of_joblib_shared_is_removed_with_the_kernel(tmp_path: Path, end: str) -> None:
    async with runtime_on(interpreter_of("data"), tmp_path, checkpoint="always") as runtime:
        await call(runtime, "x = 1")
        ran = await call(runtime, LOKY)
        pid = int(ran.text.split()[0])

        def left() -> list[str]:
            return [name for name in os.listdir(SHARED_MEMORY) if f"loky-{pid}-" in name or f"folder_{pid}_" in name]

        assert {name.partition(str(pid))[0] for name in left()} >= {"sem.loky-"}, ran.text
        if end == "supervisor":
            psutil.Process(pid).parent().kill()  # type: ignore[union-attr]
        elif end == "undo":
            await runtime.session("undo")
        else:
            await call(runtime, "os.kill(os.getpid(), 9)")
        await eventually(lambda: not left())
