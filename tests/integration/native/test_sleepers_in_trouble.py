"""Sleeping copies in trouble: one that answers late, is not told of its own children, or is refused a process."""

import errno
import os
import signal
from pathlib import Path

import psutil
import pytest

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.native import kernel as kernel_module
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import eventually, ok, value
from tests.fakes.sleepers import checkpoints_below, newly, supervisor_of, templates_below
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import (
    NATIVE_THREAD,
    THE_KERNELS_OS,
    Keep,
    crash,
    crash_and_come_back,
    pid_of,
    soon,
)

REFUSED = f"""
{THE_KERNELS_OS}
fork, x = os.fork, [41]
def refuse():
    if os.path.exists('no-more'):
        raise BlockingIOError(11, 'no more processes')
    return fork()
os.fork = refuse
"""
"""Has every fork fail as long as there is a file of that name."""

REFUSED_THE_SECOND = REFUSED.replace(
    "os.path.exists('no-more')", "os.path.exists('no-more') and os.getsid(0) == os.getpid()"
)
"""The same for the second of two forks that make a copy: the process between leads a session, a sleeper does not."""


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


async def test_a_restore_that_was_given_up_does_not_answer_the_next_one(kernel: NativeKernel, keep: Keep) -> None:
    await ok(kernel, "x = 41")
    supervisor = supervisor_of(await pid_of(kernel))
    kept = await keep(kernel)
    sleeper = await newly(lambda: checkpoints_below(supervisor), set())
    await crash(kernel)
    os.kill(sleeper, signal.SIGSTOP)
    try:
        with pytest.raises(DeadlineExceeded):
            await kernel.restore(kept, Deadline.after(0.2))
    finally:
        os.kill(sleeper, signal.SIGCONT)
    for _ in range(2):
        await kernel.restore(kept, soon())
        assert await value(kernel, "x") == "41"
        await crash(kernel)


async def test_copies_that_are_stopped_are_continued_when_they_are_wanted(
    kernel: NativeKernel, keep: Keep, start: StartKernel
) -> None:
    await ok(kernel, "x = 41")
    supervisor = supervisor_of(await pid_of(kernel))
    kept = await keep(kernel)
    sleeper = await newly(lambda: checkpoints_below(supervisor), set())
    await crash(kernel)
    for pid in (sleeper, *templates_below(supervisor)):
        os.kill(pid, signal.SIGSTOP)
    await kernel.restore(kept, soon())
    assert await value(kernel, "x") == "41"
    assert await value(await start(kernel.interpreter), "1 + 1") == "2"


async def test_garbage_is_not_collected_in_a_copy_that_can_only_be_had_by_value(
    kernel: NativeKernel, keep: Keep
) -> None:
    hang = "lambda *_: os.getpid() == here or time.sleep(600)"
    await ok(kernel, f"import gc, os, time\nhere = os.getpid()\ngc.callbacks.append({hang})" + NATIVE_THREAD)
    await ok(kernel, "x = [[number] for number in range(20_000)]")
    kept = await keep(kernel)
    revival = await crash_and_come_back(kernel, kept)
    assert revival.how == "by_value"
    assert await value(kernel, "len(x), gc.isenabled()") == "(20000, True)"


async def test_a_kernel_that_comes_back_collects_garbage_as_it_did(kernel: NativeKernel, keep: Keep) -> None:
    for state in ("enable", "disable"):
        await ok(kernel, f"import gc; gc.{state}()")
        kept = await keep(kernel)
        await crash_and_come_back(kernel, kept)
        assert await value(kernel, "gc.isenabled()") == str(state == "enable")


HANGS_WHEN_WOKEN = """
import os, time
def hang_in_a_copy():
    while os.path.exists('hang'):
        time.sleep(0.01)
os.register_at_fork(after_in_child=hang_in_a_copy)
x = [41]
"""


async def test_a_copy_that_hangs_when_it_is_woken_leaves_the_kernel_as_it_is(
    kernel: NativeKernel, keep: Keep, tmp_path: Path
) -> None:
    await ok(kernel, HANGS_WHEN_WOKEN)
    pid = await pid_of(kernel)
    kept = await keep(kernel)
    await kept.settled(soon())
    await ok(kernel, "x.append('later')")
    (tmp_path / "hang").touch()
    with pytest.raises(DeadlineExceeded):
        await kernel.restore(kept, Deadline.after(0.5))
    with pytest.raises(DeadlineExceeded):
        await kernel.branch(kept, kernel._spec, Deadline.after(0.5))
    assert await value(kernel, "x") == "[41, 'later']"
    assert await pid_of(kernel) == pid
    (tmp_path / "hang").unlink()
    await kernel.restore(kept, soon())
    assert await value(kernel, "x") == "[41]"
    assert not psutil.pid_exists(pid), "the process before is ended last"


async def test_a_copy_that_hangs_is_ended_when_it_is_given_up(kernel: NativeKernel, keep: Keep, tmp_path: Path) -> None:
    await ok(kernel, HANGS_WHEN_WOKEN)
    kept = await keep(kernel)
    copy = psutil.Process((await kept.sleeper.asleep(soon())).pid)
    (tmp_path / "hang").touch()
    with pytest.raises(DeadlineExceeded):
        await kernel.restore(kept, Deadline.after(0.5))
    await eventually(lambda: bool(copy.children()))
    hanging = [copy.pid, *(child.pid for child in copy.children(recursive=True))]
    kept.drop()
    await eventually(lambda: not any(map(psutil.pid_exists, hanging)))
    assert await value(kernel, "x") == "[41]"


async def test_variables_that_cannot_be_loaded_leave_the_kernel_as_it_is(
    kernel: NativeKernel, keep: Keep, tmp_path: Path
) -> None:
    code = "class Fatal:\n    def __reduce__(self): return (__import__('os')._exit, (7,))\nx = Fatal()"
    await ok(kernel, code + NATIVE_THREAD)
    pid = await pid_of(kernel)
    kept = await keep(kernel)
    await ok(kernel, "x = 'later'")
    with pytest.raises(KernelStartError, match="code 7"):
        await kernel.restore(kept, soon())
    assert await value(kernel, "x") == "'later'"
    assert await pid_of(kernel) == pid


async def test_a_copy_that_ends_by_itself_is_known_to_have_died_and_one_that_is_given_up_is_not(
    kernel: NativeKernel, keep: Keep
) -> None:
    supervisor = supervisor_of(await pid_of(kernel))
    kept, other = await keep(kernel), await keep(kernel)
    killed, dropped = [await each.sleeper.asleep(soon()) for each in (kept, other)]
    other.drop()
    os.kill(killed.pid, signal.SIGKILL)
    await eventually(lambda: not kept.usable)
    await eventually(lambda: not psutil.pid_exists(dropped.pid))
    assert (kept.died, other.died) == (True, False)
    last = await keep(kernel)
    await last.settled(soon())
    os.kill(supervisor, signal.SIGKILL)
    await eventually(lambda: not last.usable)
    await eventually(lambda: not checkpoints_below(supervisor))
    assert not last.died, "all ended with their supervisor, which is told as that"


@pytest.mark.parametrize("handler", ["signal.SIG_IGN", "lambda *_: (calls.append(1), os.waitpid(-1, 0))"])
async def test_a_checkpoint_of_code_that_minds_its_own_children_can_be_woken_again(
    kernel: NativeKernel, keep: Keep, handler: str
) -> None:
    await ok(kernel, f"import os, signal\ncalls = []\nsignal.signal(signal.SIGCHLD, {handler})\nNone")
    kept = await keep(kernel)
    for _ in range(3):
        await crash_and_come_back(kernel, kept)
        assert await value(kernel, "calls") == "[]"


async def test_the_variables_of_code_that_ignores_its_children_come_back_by_value(
    kernel: NativeKernel, keep: Keep
) -> None:
    await ok(kernel, "import signal\nx = [41]\nold = signal.signal(signal.SIGCHLD, signal.SIG_IGN)" + NATIVE_THREAD)
    kept = await keep(kernel)
    for _ in range(2):
        revival = await crash_and_come_back(kernel, kept)
        assert revival.how == "by_value"
        assert await value(kernel, "x") == "[41]"


async def test_a_way_back_for_which_no_descriptor_is_left_can_be_tried_again(
    kernel: NativeKernel, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ok(kernel, "x = [41]" + NATIVE_THREAD)
    kept = await keep(kernel)
    await kept.settled(soon())
    await crash(kernel)

    def refuse(name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(kernel_module, "anonymous_file", refuse)
        with pytest.raises(KernelStartError, match="Too many open files"):
            await kernel.restore(kept, soon())
    await kernel.restore(kept, soon())
    assert await value(kernel, "x") == "[41]"


@pytest.mark.parametrize(
    "code", [REFUSED, REFUSED_THE_SECOND, REFUSED + NATIVE_THREAD], ids=["first", "second", "save"]
)
async def test_a_checkpoint_that_is_refused_a_process_says_so_and_can_be_woken_later(
    kernel: NativeKernel, keep: Keep, tmp_path: Path, code: str
) -> None:
    await ok(kernel, code)
    kept = await keep(kernel)
    await kept.settled(soon())
    await crash(kernel)
    no_more = tmp_path / "no-more"
    no_more.touch()
    for _ in range(2):
        with pytest.raises(KernelStartError, match="no more processes") as refused:
            await kernel.restore(kept, soon())
        assert "limits on processes" in refused.value.hint
        assert kept.usable
    no_more.unlink()
    await kernel.restore(kept, soon())
    assert await value(kernel, "x") == "[41]"
