"""The process that new kernels come from, and the copy of it that is made before anybody asks for one."""

import psutil

from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import eventually, value
from tests.integration.native.conftest import StartKernel


async def pid_of(kernel: NativeKernel) -> int:
    return int(await value(kernel, "__import__('os').getpid()"))


async def asleep_beside(kernel: int) -> list[psutil.Process]:
    """The template, then its copy: the other children of the kernel's supervisor."""
    supervisor = psutil.Process(kernel).parent()
    assert supervisor is not None

    def others() -> list[psutil.Process]:
        return sorted((child for child in supervisor.children() if child.pid != kernel), key=lambda child: child.pid)

    await eventually(lambda: len(others()) == 2)
    return others()


async def test_a_new_kernel_is_the_copy_that_was_there_before_it_was_wanted(start: StartKernel) -> None:
    _, ahead = await asleep_beside(await pid_of(await start()))
    assert await pid_of(await start()) == ahead.pid


async def test_kernels_draw_different_numbers_though_they_are_copies_of_one_process(start: StartKernel) -> None:
    kernels = [await start() for _ in range(3)]
    drawn = {await value(kernel, "__import__('random').random()") for kernel in kernels}
    assert len(drawn) == 3


async def test_another_copy_is_made_when_the_one_ahead_is_killed(start: StartKernel) -> None:
    kernel = await pid_of(await start())
    template, ahead = await asleep_beside(kernel)
    ahead.kill()
    await eventually(lambda: not ahead.is_running())  # Until it is collected: a zombie would be counted as a copy.
    remaining = await asleep_beside(kernel)
    assert template in remaining
    assert ahead not in remaining
    assert await value(await start(), "1 + 1") == "2"


async def test_the_copy_ends_with_the_template_and_kernels_come_from_a_new_one(start: StartKernel) -> None:
    template, ahead = await asleep_beside(await pid_of(await start()))
    template.kill()
    await eventually(lambda: not ahead.is_running())
    assert await value(await start(), "1 + 1") == "2"
