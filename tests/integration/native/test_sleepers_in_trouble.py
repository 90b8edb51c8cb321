"""Sleeping copies in trouble: one that answers late, is not told of its own children, or is refused a process."""

import errno
import os
import signal
from pathlib import Path

import pytest

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.native import kernel as kernel_module
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, value
from tests.fakes.sleepers import checkpoints_below, newly, supervisor_of, templates_below
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import THE_KERNELS_OS, Keep, crash, crash_and_come_back, pid_of, soon

LIKE_POLARS = """
import threading
named, stop = threading.Event(), threading.Event()
def work():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w", encoding="ascii") as file:
        file.write("polars-0")
    named.set()
    stop.wait()
threading.Thread(target=work, daemon=True).start()
named.wait(10)
"""
"""Has a native thread that a copy is known not to be able to start again."""

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
    await ok(kernel, "import signal\nx = [41]\nold = signal.signal(signal.SIGCHLD, signal.SIG_IGN)" + LIKE_POLARS)
    kept = await keep(kernel)
    for _ in range(2):
        revival = await crash_and_come_back(kernel, kept)
        assert revival.how == "by_value"
        assert await value(kernel, "x") == "[41]"


async def test_a_way_back_for_which_no_descriptor_is_left_can_be_tried_again(
    kernel: NativeKernel, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ok(kernel, "x = [41]" + LIKE_POLARS)
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


@pytest.mark.parametrize("code", [REFUSED, REFUSED_THE_SECOND, REFUSED + LIKE_POLARS], ids=["first", "second", "save"])
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
