"""What is asked of a kernel between its cells, when it answers late, is dead, or there is nothing left to ask with."""

import errno
import os
import signal
import socket
from pathlib import Path

import pytest

from pisces.errors import CheckpointError, DeadlineExceeded, KernelGone
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import eventually, ok, run, value
from tests.integration.native.keeping import pid_of, soon


async def list_too_late(kernel: NativeKernel) -> None:
    """Ask for the variables, of a kernel that answers when nobody waits any more."""
    pid = await pid_of(kernel)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(DeadlineExceeded):
            await kernel.variables(Deadline.after(0.1))
    finally:
        os.kill(pid, signal.SIGCONT)


COUNTED = """
class Counted:
    looks = 0

    @property
    def shape(self):
        Counted.looks += 1
        return (Counted.looks,)

counted = Counted()
"""


async def test_a_late_list_of_variables_is_not_taken_for_the_next(kernel: NativeKernel) -> None:
    await ok(kernel, COUNTED)
    await list_too_late(kernel)
    await ok(kernel, "None")
    await list_too_late(kernel)
    sizes = {variable.name: variable.size for variable in await kernel.variables(soon())}
    assert sizes["counted"] == "(3,)"
    assert await value(kernel, "Counted.looks") == "3"


async def test_a_late_list_of_variables_is_no_frame_that_nobody_understands(kernel: NativeKernel) -> None:
    await list_too_late(kernel)
    assert (await run(kernel, "x = 1")).done.notes == ()


@pytest.mark.parametrize("heard", [False, True])
async def test_listing_the_variables_of_a_dead_kernel_says_that_it_is_gone(kernel: NativeKernel, heard: bool) -> None:
    pid = await pid_of(kernel)
    os.kill(pid, signal.SIGKILL)
    if heard:
        with pytest.raises(KernelGone):
            await kernel.variables(soon())
    with pytest.raises(KernelGone):
        await kernel.variables(soon())


async def test_a_checkpoint_for_which_no_descriptor_is_left_costs_the_kernel_nothing(
    kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ok(kernel, "x = 1")

    def refuse() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socketpair", refuse)
        with pytest.raises(CheckpointError, match="Too many open files"):
            await kernel.checkpoint()
    assert await value(kernel, "x") == "1"


async def test_a_signal_handler_that_raises_between_cells_does_not_end_the_kernel(
    kernel: NativeKernel, tmp_path: Path
) -> None:
    await ok(kernel, "import os, signal\ndef ring(*_):\n    os.mkdir('came')\n    raise TimeoutError('too late')")
    pid = await pid_of(kernel)
    await ok(kernel, "_ = signal.signal(signal.SIGALRM, ring), signal.setitimer(signal.ITIMER_REAL, 1.0)")
    await eventually((tmp_path / "came").exists)
    ran = await ok(kernel, "print(os.getpid())")
    assert ran.stdout == f"{pid}\n"
    assert ran.stderr == "Between cells, a task or a signal handler raised TimeoutError: too late\n"
