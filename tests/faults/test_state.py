"""State through the whole line: what a result says after the worst, and that it is true."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from pisces.kernels.deadline import Deadline
from pisces.kernels.native import kernel as kernel_module
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.contract import cells
from tests.fakes.drive import eventually
from tests.fakes.runtimes import call, details, kernel_of, pool_of, runtime_on
from tests.fakes.sleepers import checkpoints_below, newly, supervisor_of
from tests.integration.native.keeping import NATIVE_THREAD, THE_KERNELS_OS

PID = "__import__('os').getpid()"


@pytest.fixture(params=["plain_python", "ipython_python"], ids=["builtin", "ipython"])
async def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Runtime]:
    interpreter = str(request.getfixturevalue(request.param))
    async with runtime_on(interpreter, tmp_path, checkpoint="always", interrupt_grace=0.2) as entered:
        yield entered


async def session(runtime: Runtime, action: str, **params: object) -> ToolResult:
    return await runtime.tool("session", {"action": action, **params}, context=CallContext(owner="runtime"))


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (cells.SEGFAULT, "SIGSEGV"),
        (cells.KILL_ITSELF, "SIGKILL"),
        (cells.LEAVE_WITH_3, "code 3"),
        ("import os\nos.abort()", "SIGABRT"),
    ],
    ids=["segfault", "killed", "exit", "abort"],
)
async def test_a_crash_costs_only_the_cell_that_crashed(runtime: Runtime, end: str, how: str) -> None:
    await call(runtime, ["import json, os", "x = {'a': [1]}", "os.environ['MINE'] = 'kept'; os.chdir('/')"])
    crashed = await call(runtime, f"x['a'].append('never')\n{end}")
    kernel = kernel_of(crashed)
    assert (details(crashed).outcome, kernel.state) == ("crashed", "restored")
    assert kernel.restore is not None
    assert (kernel.restore.how, kernel.restore.cells_lost, kernel.restore.missing) == ("exact", 0, ())
    assert how in crashed.text.splitlines()[0]
    after = await call(runtime, "print(x, json.dumps(1), os.environ['MINE'], os.getcwd())")
    assert after.text == "{'a': [1]} 1 kept /"
    assert kernel_of(after).state == "kept"


USE_UP_DESCRIPTORS = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (400, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
used = []
try:
    while True:
        used.append(open(os.devnull))
except OSError:
    x = 2
"""


async def test_a_kernel_that_has_no_descriptor_left_goes_on_without_a_checkpoint(runtime: Runtime) -> None:
    await call(runtime, "x = 1")
    assert not (await call(runtime, USE_UP_DESCRIPTORS)).is_error
    after = await call(runtime, "x, len(used) > 100")
    assert "The last checkpoint could not be made: the kernel has no file descriptor left." in after.text
    assert (kernel_of(after).state, "(2, True)" in after.text) == ("kept", True)
    await call(runtime, "used.clear()")
    crashed = await call(runtime, cells.LEAVE_WITH_3)
    assert kernel_of(crashed).state == "restored"
    assert (await call(runtime, "x")).text == "2"


async def test_a_cell_that_ignores_interrupts_costs_only_itself(runtime: Runtime) -> None:
    await call(runtime, "x = 1")
    stuck = await call(runtime, "x = 2\n" + cells.NEVER_STOP, timeout=1)
    assert (details(stuck).outcome, kernel_of(stuck).state) == ("timeout", "restored")
    assert (await call(runtime, "x")).text == "1"


async def test_when_the_newest_checkpoint_is_gone_the_result_says_how_far_back_it_went(runtime: Runtime) -> None:
    await call(runtime, "x = 1")
    supervisor = supervisor_of(int((await call(runtime, PID)).text))
    await eventually(lambda: len(checkpoints_below(supervisor)) == 2)
    known = checkpoints_below(supervisor)
    await call(runtime, "x = 2")
    os.kill(await newly(lambda: checkpoints_below(supervisor), known), signal.SIGKILL)
    crashed = await call(runtime, cells.LEAVE_WITH_3)
    restore = kernel_of(crashed).restore
    assert restore is not None
    assert restore.cells_lost == 1
    assert "1 cell earlier" in crashed.text.splitlines()[0]
    assert (await call(runtime, "x")).text == "1"


async def test_a_copy_that_is_killed_is_reported_with_the_next_result_and_listed_no_more(runtime: Runtime) -> None:
    await call(runtime, "x = 1")
    supervisor = supervisor_of(int((await call(runtime, PID)).text))
    await eventually(lambda: len(checkpoints_below(supervisor)) == 2)
    known = checkpoints_below(supervisor)
    await session(runtime, "checkpoint", name="good")
    os.kill(await newly(lambda: checkpoints_below(supervisor), known), signal.SIGKILL)
    (found,) = pool_of(runtime).sessions
    await eventually(lambda: not found.marked)
    assert "good" not in (await session(runtime, "list")).text
    after = await call(runtime, "x")
    assert after.text == (
        "1\n\nThe checkpoint 'good', of after 2 cells, ended by itself (killed, or out of memory): the session cannot "
        "go back to that state any more."
    )
    assert kernel_of(after).state == "kept"
    assert (await call(runtime, "x")).text == "1"


async def test_an_undo_whose_copy_hangs_leaves_the_session_as_it_was(runtime: Runtime, tmp_path: Path) -> None:
    hang = "import os, time\ndef hang():\n while os.path.exists('hang'): time.sleep(0.01)"
    await call(runtime, f"{hang}\nos.register_at_fork(after_in_child=hang)\nx = 1")
    pid = (await call(runtime, f"x = 2; {PID}")).text
    await session(runtime, "checkpoint", name="good")
    (tmp_path / "hang").touch()
    for action in ({"action": "undo"}, {"action": "restore", "name": "good"}):
        refused = await session(runtime, **action, timeout=1)
        assert refused.is_error
        assert "Nothing has changed: the session goes on where it stands." in refused.text
    (tmp_path / "hang").unlink()
    after = await call(runtime, f"x, {PID}")
    assert (after.text, kernel_of(after).state) == (f"(2, {pid})", "kept")


DEAF = "(signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()), time.sleep(600))"


@pytest.mark.parametrize("end", [DEAF, "os.abort()"], ids=["hangs", "aborts"])
async def test_a_value_that_ends_the_way_back_by_value_costs_no_other(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(kernel_module, "_SAVE_SECONDS", 1.0)
    await call(runtime, "import os, signal, time\nx = 1")
    bad = f"class Bad:\n def __reduce__(self): {end}\nbad = Bad()\n"
    await call(runtime, [NATIVE_THREAD, bad, "y = 2"])
    crashed = await call(runtime, cells.LEAVE_WITH_3)
    restore = kernel_of(crashed).restore
    assert restore is not None, crashed.text
    assert (restore.how, restore.cells_lost) == ("by_value", 0)
    assert any(name.startswith("bad (") for name in restore.missing)
    assert (await call(runtime, "x")).text == "1"


async def test_where_nothing_can_be_written_an_older_exact_checkpoint_is_gone_to(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_module, "_SAVE_SECONDS", 0.5)
    await call(runtime, "import os, signal, time\nx = 1")
    code = f"import decimal\ndef never(*_): {DEAF}\n{THE_KERNELS_OS}\nos.getcwd = never\nx = 2"
    await call(runtime, [NATIVE_THREAD + code, "x = 3"])
    crashed = await call(runtime, cells.LEAVE_WITH_3)
    restore = kernel_of(crashed).restore
    assert restore is not None, crashed.text
    assert (restore.how, restore.cells_lost) == ("exact", 2)
    assert (await call(runtime, "x")).text == "1"


async def test_when_the_supervisor_is_killed_the_state_is_lost_and_the_next_call_says_so(runtime: Runtime) -> None:
    await call(runtime, "x = 1")
    pid = int((await call(runtime, PID)).text)
    os.kill(supervisor_of(pid), signal.SIGKILL)
    await eventually(lambda: not psutil.pid_exists(pid))
    after = await call(runtime, "print('is x there?', 'x' in globals())")
    assert kernel_of(after).state == "lost"
    assert after.text.startswith("[State: lost]")
    assert "is x there? False" in after.text
    assert (await call(runtime, "2")).text == "2"


async def test_a_thread_that_is_not_back_is_named_in_the_first_line(runtime: Runtime) -> None:
    code = "import threading\nthreading.Thread(target=threading.Event().wait, name='worker', daemon=True).start()"
    await call(runtime, code)
    crashed = await call(runtime, cells.LEAVE_WITH_3)
    assert "thread 'worker'" in crashed.text.splitlines()[0]


async def test_undo_right_after_a_cell_takes_back_that_cell(runtime: Runtime) -> None:
    await call(runtime, "x = 0")
    for number in range(1, 6):
        await call(runtime, f"x = {number}")
        undone = await session(runtime, "undo")
        assert not undone.is_error, undone.text
        assert (await call(runtime, "x += 10; x")).text == str(10 * number)


async def test_going_to_the_newest_checkpoint_right_after_a_cell_finds_it(runtime: Runtime) -> None:
    for number in range(5):
        await call(runtime, f"x = {number}")
        restored = await session(runtime, "restore")
        assert not restored.is_error, restored.text
        (found,) = pool_of(runtime).sessions
        async with found.turn(Deadline.after(10)):
            assert found.position == number + 1


async def test_a_fork_that_fails_is_told_and_the_way_back_stays(runtime: Runtime) -> None:
    refuse = "def refuse(): raise BlockingIOError(11, 'no more processes')"
    await call(runtime, f"{THE_KERNELS_OS}\nfork, x = os.fork, 1\n{refuse}")
    await call(runtime, "os.fork = refuse; x = 2")
    told = await call(runtime, "os.fork = fork; x = 3")
    assert "no more processes" in told.text
    crashed = await call(runtime, cells.LEAVE_WITH_3)
    restore = kernel_of(crashed).restore
    assert restore is not None
    assert restore.cells_lost == 0
    assert (await call(runtime, "x")).text == "3"


async def test_a_session_with_many_checkpoints_leaves_nothing_when_it_is_closed(runtime: Runtime) -> None:
    supervisor = supervisor_of(int((await call(runtime, PID)).text))
    await call(runtime, [f"x = {number}" for number in range(12)])
    for name in ("one", "two", "three"):
        assert not (await session(runtime, "checkpoint", name=name)).is_error
    await eventually(lambda: len(checkpoints_below(supervisor)) == 11)
    await session(runtime, "close")
    await eventually(lambda: not checkpoints_below(supervisor))


async def test_variables_can_be_listed_right_after_the_kernel_was_killed(runtime: Runtime) -> None:
    pid = int((await call(runtime, f"x = 41\n{PID}")).text)
    (found,) = pool_of(runtime).sessions
    (kept,) = found.state.checkpoints
    await kept.checkpoint.settled(Deadline.after(10))
    os.kill(pid, signal.SIGKILL)
    listed = await session(runtime, "variables")
    assert not listed.is_error, listed.text
    assert "x" in listed.text
    assert kernel_of(await call(runtime, "x")).state == "restored"
