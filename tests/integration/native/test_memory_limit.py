"""`python.memoryLimitMb`: a cell that wants too much fails, a kernel that has too much ends, and the state stays."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.model.events import Restore
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import begin, call, details, kernel_of, runtime_on

LIMIT = 150
OVER = f"used more than the {LIMIT} MiB that python.memoryLimitMb allows, and was killed"

# Memory that is shared between processes, which no limit of a single process counts.
FILL = """
import mmap
def fill(mb):
    filled = mmap.mmap(-1, mb << 20)
    for page in range(0, mb << 20, mmap.PAGESIZE):
        filled[page] = 1
    return filled
"""
CHILDREN = """
import signal, subprocess, sys, time
CHILD = 'import time; held = b"x" * (60 << 20); print("there", flush=True); time.sleep(300)'
def child(**options):
    made = subprocess.Popen([sys.executable, '-c', CHILD], stdout=subprocess.PIPE, **options)
    made.stdout.readline()
    return made
"""


def until(path: Path) -> str:
    """Code that waits for a file."""
    return f"while not os.path.exists({str(path)!r}): time.sleep(0.01)"


@pytest.fixture
async def limited(either_python: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    """A runtime whose kernels may have 150 MiB."""
    async with runtime_on(either_python, tmp_path, memory_limit_mb=LIMIT, checkpoint="always") as runtime:
        yield runtime


@pytest.fixture
async def plain(plain_python: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    """The same, without IPython."""
    async with runtime_on(plain_python, tmp_path, memory_limit_mb=LIMIT, checkpoint="always") as runtime:
        yield runtime


def assert_ended_for_its_memory(result: ToolResult) -> None:
    assert details(result).outcome == "crashed", result.text
    assert kernel_of(result).state == "restored"
    assert result.text.startswith(f"[State: restored] The kernel {OVER}. The state was restored exactly"), result.text


async def test_a_cell_that_asks_for_too_much_gets_a_memory_error(limited: Runtime) -> None:
    await call(limited, "x = 41")
    refused = await call(limited, f"y = bytearray({LIMIT} << 20)")
    after = await call(limited, "x + 1, 'y' in globals()")
    assert (details(refused).outcome, kernel_of(after).generation, after.text) == ("error", 1, "(42, False)")
    assert (
        f"MemoryError\npython.memoryLimitMb allows this kernel and all it starts {LIMIT} MiB."
        in refused.text.replace("MemoryError: \n", "MemoryError\n")
    )


async def test_a_cell_that_uses_up_all_there_is_can_be_mended_by_the_next(limited: Runtime) -> None:
    await call(limited, "x = 41")
    refused = await call(limited, "pieces = []\nwhile True: pieces.append(bytearray(1000))")
    mended = await call(limited, "pieces.clear()\nx + 1")
    assert (details(refused).outcome, mended.text, kernel_of(mended).generation) == ("error", "42", 1)
    assert "MemoryError" in refused.text


async def test_an_array_that_is_too_large_is_a_memory_error(ipython_python: str, tmp_path: Path) -> None:
    async with runtime_on(ipython_python, tmp_path, memory_limit_mb=400) as runtime:
        await call(runtime, "import numpy as np; a = np.ones(1_000_000)")
        refused = await call(runtime, "np.ones(60_000_000)")
        after = await call(runtime, "a.sum() == 1_000_000")
    assert details(refused).outcome == "error"
    assert "Unable to allocate 458. MiB" in refused.text
    assert "python.memoryLimitMb allows this kernel and all it starts 400 MiB." in refused.text
    assert (kernel_of(after).generation, after.text.splitlines()[0]) == (1, "np.True_")


async def test_a_kernel_that_has_too_much_ends_and_the_state_of_before_the_cell_is_back(limited: Runtime) -> None:
    await call(limited, FILL + "x = 41", session="greedy")
    await call(limited, "import os; pid = os.getpid()", session="other")
    ended = await call(limited, f"x = 0; filled = fill({2 * LIMIT})\nimport time; time.sleep(60)", session="greedy")
    back = await call(limited, "x + 1, 'filled' in globals()", session="greedy")
    other = await call(limited, "os.getpid() == pid", session="other")
    assert_ended_for_its_memory(ended)
    assert details(ended).cells[0].exit_code == 137
    assert (back.text, kernel_of(back).state) == ("(42, False)", "kept")
    assert (other.text, kernel_of(other).generation, kernel_of(other).state) == ("True", 1, "kept")


async def test_what_children_use_counts_together_also_of_those_that_are_stopped_or_have_gone_their_own_way(
    plain: Runtime,
) -> None:
    await call(plain, CHILDREN + "x = 41")
    enough = await call(plain, "stopped = child(); stopped.send_signal(signal.SIGSTOP)\nx")
    pids = await call(plain, "apart = child(start_new_session=True)\nprint(stopped.pid, apart.pid)")
    ended = await call(plain, "child(); time.sleep(60)")
    back = await call(plain, "x + 1")
    assert (enough.text, back.text) == ("41", "42")
    assert_ended_for_its_memory(ended)
    assert [pid for pid in map(int, pids.text.split()) if psutil.pid_exists(pid)] == []


async def test_a_daemon_that_left_the_family_counts(plain: Runtime) -> None:
    daemon = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        held = fill(300)
        time.sleep(300)
    os._exit(0)
os.wait()
time.sleep(60)
"""
    await call(plain, FILL + "import time; x = 41")
    assert_ended_for_its_memory(await call(plain, daemon))
    assert (await call(plain, "x + 1")).text == "42"


async def test_a_thread_that_uses_too_much_between_cells_ends_the_kernel_and_the_next_call_says_so(
    plain: Runtime, tmp_path: Path
) -> None:
    await call(plain, FILL + "import os, threading, time; x = 41")
    late = f"""
kept = []
def late():
    {until(tmp_path / "go")}
    kept.append(fill({2 * LIMIT}))
threading.Thread(target=late).start()
print(os.getpid())
"""
    process = psutil.Process(int((await call(plain, late)).text))
    (tmp_path / "go").touch()
    # Nobody runs the host's event loop meanwhile: it is not needed.
    process.wait(PATIENCE)
    after = await call(plain, "x + 1")
    assert after.text.startswith(f"[State: restored] The kernel had ended since the last call: it {OVER}. ")
    assert "\n42\n" in after.text


async def test_a_busy_host_does_not_keep_a_kernel_from_being_ended(plain: Runtime, tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        await call(plain, FILL + "import os, time; x = 41")
        code = f"""
print(os.getpid(), flush=True)
{until(tmp_path / "go")}
filled = fill({2 * LIMIT})
time.sleep(60)
"""
        greedy = begin(group, plain, code)
        process = psutil.Process(int((await greedy.watcher.prints("\n")).tail.split()[0]))
        (tmp_path / "go").touch()
        began = time.monotonic()
        process.wait(PATIENCE)  # Blocks the event loop.
        assert time.monotonic() - began < PATIENCE / 2
        assert_ended_for_its_memory(await greedy.finish())


async def test_the_limit_holds_after_a_restore_and_in_a_branch_and_counts_what_was_there(limited: Runtime) -> None:
    await call(limited, f"held = bytearray(b'x') * ({LIMIT - 70} << 20)")
    await call(limited, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    await limited.session("branch", to="trial")
    for session in ("default", "trial"):
        refused = await call(limited, f"bytearray({LIMIT - 60} << 20)", session=session)
        fine = await call(limited, "len(held), len(bytearray(40 << 20))", session=session)
        assert (details(refused).outcome, fine.text) == ("error", f"({LIMIT - 70 << 20}, {40 << 20})")
        ended = await call(limited, FILL + "held2 = fill(120)\nimport time; time.sleep(60)", session=session)
        assert_ended_for_its_memory(ended)
        assert (await call(limited, "len(held)", session=session)).text == str(LIMIT - 70 << 20)


async def test_a_checkpoint_that_was_made_at_the_limit_can_be_woken_again_and_again(limited: Runtime) -> None:
    await call(limited, "pieces = []\ntry:\n    while True: pieces.append(bytearray(1000))\nexcept MemoryError: pass")
    count = (await call(limited, "len(pieces)")).text
    for _ in range(2):
        ended = await call(limited, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        assert kernel_of(ended).restore == Restore("exact")
        assert (await call(limited, "len(pieces)")).text == count


async def test_pages_that_a_checkpoint_shares_with_the_kernel_are_not_counted_twice(plain: Runtime) -> None:
    await call(plain, f"held = bytearray(b'x') * ({LIMIT - 20} << 20)")
    for number in range(4):
        assert (await call(plain, f"{number}\n")).text == str(number)
    waited = await call(plain, "import time; time.sleep(1); len(held)")
    assert (waited.text, kernel_of(waited).generation) == (str(LIMIT - 20 << 20), 1)
