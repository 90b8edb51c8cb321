"""Sleeping copies in trouble: one that answers late, one that is not told of its own children."""

import os
import signal

import pytest

from pisces.errors import DeadlineExceeded
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import ok, value
from tests.fakes.sleepers import checkpoints_below, newly, supervisor_of
from tests.integration.native.conftest import StartKernel
from tests.integration.native.keeping import Keep, crash, crash_and_come_back, pid_of, soon


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


@pytest.mark.parametrize("handler", ["signal.SIG_IGN", "lambda *_: (calls.append(1), os.waitpid(-1, 0))"])
async def test_a_checkpoint_of_code_that_minds_its_own_children_can_be_woken_again(
    kernel: NativeKernel, keep: Keep, handler: str
) -> None:
    await ok(kernel, f"import os, signal\ncalls = []\nsignal.signal(signal.SIGCHLD, {handler})\nNone")
    kept = await keep(kernel)
    for _ in range(3):
        await crash_and_come_back(kernel, kept)
        assert await value(kernel, "calls") == "[]"
