"""Keeping the state of native kernels, crashing them, and bringing them back."""

from collections.abc import Awaitable, Callable

from pisces.kernels.base import Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.kernels.native.kernel import NativeKernel
from tests.contract import cells
from tests.fakes.drive import PATIENCE, run, value

THE_KERNELS_OS = "import sys; os = sys.modules['_pisces_guest.stdlib'].os"
"""Code that binds what the kernel itself calls in the place of `os`, for a test that has it fail."""
NATIVE_THREAD = """
import ctypes
ctypes.CDLL(None).pthread_create(ctypes.byref(ctypes.c_ulong()), None, ctypes.CDLL(None).pause, None)
"""
"""Code that starts a native thread of which nobody knows what becomes in a copy: the state then comes back by value."""
Keep = Callable[[NativeKernel], Awaitable[NativeCheckpoint]]


def soon() -> Deadline:
    """As long as anything may take."""
    return Deadline.after(PATIENCE)


async def pid_of(kernel: NativeKernel) -> int:
    """The process behind a kernel."""
    return int(await value(kernel, "__import__('os').getpid()"))


async def crash(kernel: NativeKernel) -> None:
    """End the process from inside."""
    ran = await run(kernel, cells.LEAVE_WITH_3)
    assert ran.done.status == "crashed", ran.explained


async def crash_and_come_back(kernel: NativeKernel, kept: NativeCheckpoint) -> Revival:
    """The kernel dies in a cell and goes on from the checkpoint."""
    await crash(kernel)
    return await kernel.restore(kept, soon())
