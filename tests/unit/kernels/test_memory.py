"""The scripted kernel does what its script says, and comes back from its death where it was told to."""

import signal

import anyio
import pytest

from pisces.errors import CheckpointError, DeadlineExceeded, KernelGone, KernelStartError
from pisces.kernels.base import Checkpointing, ExecuteRequest, Inspecting, LaunchSpec, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend, MemoryKernel
from pisces.kernels.memory_script import Die, Handler, IgnoreInterrupt, Script, Step, WaitFor, WaitForInterrupt
from pisces.model.events import Done, Error, ProcessExit, Result, Started, Stream, Variable
from tests.fakes.drive import begin, ok, run

SPEC = LaunchSpec("scripted", "/", {})
EXACT = Revival("exact")


async def started(script: Script) -> MemoryKernel:
    kernel = MemoryBackend(script).kernel(SPEC)
    await kernel.start(Deadline.never())
    return kernel


async def keeping(script: Script, revival: Revival = EXACT) -> CheckpointingMemoryKernel:
    kernel = MemoryBackend(script, revival=revival).kernel(SPEC)
    await kernel.start(Deadline.never())
    assert isinstance(kernel, CheckpointingMemoryKernel)
    return kernel


def counting() -> Handler:
    """A handler that counts its cells in the namespace, and dies of the cell `die`."""

    def handler(request: ExecuteRequest, namespace: dict[str, int]) -> list[Step]:
        namespace["cells"] = namespace.get("cells", 0) + 1
        return [Die(signal=signal.SIGKILL)] if request.code == "die" else [Result({"text/plain": namespace["cells"]})]

    return handler


async def test_the_steps_of_a_cell_are_found_by_its_code() -> None:
    kernel = await started({"hello": [Stream("stdout", "hi\n"), Result({"text/plain": "1"})]})
    ran = await ok(kernel, "hello")
    assert ran.events == [
        Started(),
        Stream("stdout", "hi\n"),
        Result({"text/plain": "1"}, execution_count=1),
        Done("ok", execution_count=1),
    ]


async def test_code_that_the_script_does_not_know_is_an_error_of_the_cell() -> None:
    kernel = await started({})
    ran = await run(kernel, "unknown")
    assert (ran.done.status, ran.error.ename) == ("error", "KeyError")


async def test_a_handler_that_raises_fails_its_cell_and_not_the_kernel() -> None:
    def handler(request: ExecuteRequest, namespace: dict[str, int]) -> list[Step]:
        raise ValueError(request.code)

    ran = await run(await started(handler), "bad")
    assert (ran.error.ename, ran.error.evalue) == ("ValueError", "bad")


async def test_a_done_in_the_script_ends_the_cell_as_it_says() -> None:
    kernel = await started({"x": [Error("SystemExit", "3"), Done("error", exit_code=3), Stream("stdout", "never")]})
    ran = await run(kernel, "x")
    assert (ran.done.exit_code, ran.done.execution_count, ran.stdout) == (3, 1, "")


async def test_a_cell_waits_for_what_the_test_holds_back() -> None:
    gate = anyio.Event()
    kernel = await started({"x": [Stream("stdout", "a"), WaitFor(gate), Stream("stdout", "b")]})
    running = await begin(kernel, "x")
    await running.prints("a")
    with anyio.move_on_after(0.01) as scope:
        await running.execution.receive()
    assert scope.cancelled_caught
    gate.set()
    assert (await running.finish()).stdout == "ab"


async def test_a_wait_can_be_interrupted() -> None:
    kernel = await started({"x": [WaitFor(anyio.Event())]})
    running = await begin(kernel, "x")
    await kernel.interrupt()
    assert (await running.finish()).done.status == "interrupted"


async def test_each_interrupt_is_taken_by_one_wait() -> None:
    kernel = await started({"x": [IgnoreInterrupt(), Stream("stdout", "ignored"), WaitForInterrupt()]})
    running = await begin(kernel, "x")
    await kernel.interrupt()
    await running.prints("ignored")
    with anyio.move_on_after(0.01) as scope:
        await running.execution.receive()
    assert scope.cancelled_caught
    await kernel.interrupt()
    assert (await running.finish()).done.status == "interrupted"
    assert kernel.interrupts == 2


async def test_an_endless_script_comes_in_bounded_batches() -> None:
    def forever(request: ExecuteRequest, namespace: dict[str, int]) -> list[Step]:
        return [Stream("stdout", "x")] * 10_000

    execution = await (await started(forever)).execute(ExecuteRequest("go"))
    sizes = []
    while not isinstance((events := await execution.receive())[-1], Done):
        sizes.append(len(events))
    assert max(sizes) <= 256


async def test_a_kernel_can_die_between_cells() -> None:
    kernel = await started(counting())
    kernel.die(ProcessExit(code=9))
    assert not await kernel.is_alive()
    with pytest.raises(KernelGone):
        await kernel.execute(ExecuteRequest("x"))


async def test_a_start_can_fail_or_take_too_long() -> None:
    async def fail() -> None:
        raise KernelStartError("no such interpreter")

    with pytest.raises(KernelStartError, match="no such interpreter"):
        await MemoryBackend({}, on_start=fail).kernel(SPEC).start(Deadline.after(5))
    with pytest.raises(DeadlineExceeded, match=r"0\.01 seconds"):
        await MemoryBackend({}, on_start=anyio.sleep_forever).kernel(SPEC).start(Deadline.after(0.01))


async def test_only_a_kernel_that_can_come_back_says_so() -> None:
    assert not isinstance(await started({}), Checkpointing | Inspecting)
    kernel = await keeping({})
    assert isinstance(kernel, Checkpointing)
    assert isinstance(kernel, Inspecting)


async def test_a_restored_kernel_has_the_state_of_the_checkpoint_as_often_as_it_is_wanted() -> None:
    kernel = await keeping(counting())
    await ok(kernel, "one")
    kept = await kernel.checkpoint()
    await ok(kernel, "two")
    for _ in range(2):
        assert (await run(kernel, "die")).done.state == "lost"
        assert await kernel.restore(kept, Deadline.never()) == Revival("exact")
        again = await ok(kernel, "two again")
        assert (again.result, again.done.execution_count) == (2, 2)


async def test_what_is_missing_after_a_restore_is_not_there() -> None:
    kernel = await keeping(counting(), Revival("by_value", missing=("cells",)))
    await ok(kernel, "one")
    kept = await kernel.checkpoint()
    await run(kernel, "die")
    await kernel.restore(kept, Deadline.never())
    assert (await ok(kernel, "again")).result == 1


async def test_a_branch_and_its_origin_do_not_see_each_other() -> None:
    backend = MemoryBackend(counting(), revival=Revival("exact"))
    kernel = backend.kernel(SPEC)
    await kernel.start(Deadline.never())
    await ok(kernel, "one")
    assert isinstance(kernel, Checkpointing)
    branch, _ = await kernel.branch(await kernel.checkpoint(), SPEC, Deadline.never())
    await ok(kernel, "two")
    assert (await ok(branch, "two")).result == 2
    assert backend.kernels == [kernel, branch]


@pytest.mark.parametrize("how", ["dropped", "broken"])
async def test_when_a_checkpoint_does_not_wake_the_kernel_goes_on(how: str) -> None:
    kernel = await keeping(counting())
    kept = await kernel.checkpoint()
    if how == "dropped":
        kept.drop()
    else:
        kept.broken = True
    assert kept.usable == (how == "broken")
    with pytest.raises(KernelStartError):
        await kernel.restore(kept, Deadline.never())
    assert await kernel.is_alive()


async def test_there_is_no_checkpoint_of_a_dead_kernel_or_of_what_cannot_be_copied() -> None:
    def handler(request: ExecuteRequest, namespace: dict[str, object]) -> list[Step]:
        namespace["steps"] = (number for number in range(3))
        return []

    kernel = await keeping(handler)
    await ok(kernel, "x")
    with pytest.raises(CheckpointError, match="cannot be copied"):
        await kernel.checkpoint()
    await kernel.kill()
    with pytest.raises(KernelGone):
        await kernel.checkpoint()


async def test_the_names_are_listed_in_order_and_without_private_ones() -> None:
    def handler(request: ExecuteRequest, namespace: dict[str, object]) -> list[Step]:
        namespace.update({"b": [1, 2], "a": 1, "_hidden": 0})
        return []

    kernel = await keeping(handler)
    await ok(kernel, "x")
    assert await kernel.variables(Deadline.never()) == (Variable("a", "int"), Variable("b", "list", "2"))


async def test_closing_the_backend_ends_every_kernel() -> None:
    backend = MemoryBackend({"x": [WaitForInterrupt()]})
    kernels = [backend.kernel(SPEC) for _ in range(2)]
    for kernel in kernels:
        await kernel.start(Deadline.never())
    running = await begin(kernels[0], "x")
    await backend.aclose()
    assert (await running.finish()).done.status == "crashed"
    assert [await kernel.is_alive() for kernel in kernels] == [False, False]
