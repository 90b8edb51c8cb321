"""Calls of one session run one at a time, in order; one that is stopped while it waits never reaches the kernel."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Hang, IgnoreInterrupt, WaitFor, WaitForInterrupt
from pisces.model.events import Result, Stream
from tests.fakes.runtimes import begin, call, details, kernel_of, pool_of, scripted_runtime


def say(text: str) -> Stream:
    return Stream("stdout", text + "\n")


async def test_calls_run_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"first": [say("first"), WaitFor(go)], "second": [], "third": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        first = begin(group, runtime, "first")
        await first.watcher.prints("first")
        second, third = begin(group, runtime, "second"), begin(group, runtime, "third")
        await anyio.wait_all_tasks_blocked()
        assert [request.code for request in backend.kernels[0].requests] == ["first"]
        go.set()
        await second.finish()
        await third.finish()
    (kernel,) = backend.kernels
    assert [request.code for request in kernel.requests] == ["first", "second", "third"]


async def test_a_queued_call_whose_time_runs_out_never_reaches_the_kernel(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"first": [say("first"), WaitFor(go)], "second": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        first = begin(group, runtime, "first")
        await first.watcher.prints("first")
        result = await call(runtime, "second", timeout=1)
        go.set()
        await first.finish()
    assert details(result).outcome == "timeout"
    assert [record.status for record in details(result).cells] == ["pending"]
    assert "Command timed out after 1 seconds" in result.text
    assert "Nothing was run: the calls before this one in the session had not finished." in result.text
    assert [request.code for request in backend.kernels[0].requests] == ["first"]


async def test_a_queued_call_that_is_aborted_never_reaches_the_kernel(tmp_path: Path) -> None:
    go, abort = anyio.Event(), anyio.Event()
    backend = MemoryBackend({"first": [say("first"), WaitFor(go)], "second": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        first = begin(group, runtime, "first")
        await first.watcher.prints("first")
        second = begin(group, runtime, "second", abort=abort)
        await anyio.wait_all_tasks_blocked()
        abort.set()
        result = await second.finish()
        go.set()
        await first.finish()
    assert (details(result).outcome, details(result).cancelled) == ("aborted", True)
    assert "cancelled before the code began" in result.text
    assert [request.code for request in backend.kernels[0].requests] == ["first"]


async def test_a_queued_call_whose_task_is_cancelled_never_reaches_the_kernel(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"first": [say("first"), WaitFor(go)], "second": [], "third": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        first = begin(group, runtime, "first")
        await first.watcher.prints("first")
        second, third = begin(group, runtime, "second"), begin(group, runtime, "third")
        await anyio.wait_all_tasks_blocked()
        second.scope.cancel()
        await second.ended.wait()
        go.set()
        await third.finish()
    assert second.result is None
    assert [request.code for request in backend.kernels[0].requests] == ["first", "third"]


async def test_an_event_that_is_set_already_keeps_the_code_from_beginning(tmp_path: Path) -> None:
    backend = MemoryBackend({"first": [], "second": []})
    abort = anyio.Event()
    abort.set()
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "first")
        result = await call(runtime, "second", abort=abort)
    assert details(result).outcome == "aborted"
    assert [request.code for request in backend.kernels[0].requests] == ["first"]


async def test_two_first_calls_share_one_start(tmp_path: Path) -> None:
    up = anyio.Event()
    backend = MemoryBackend({"a": [], "b": []}, on_start=up.wait)
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        first, second = begin(group, runtime, "a"), begin(group, runtime, "b")
        await anyio.wait_all_tasks_blocked()
        up.set()
        assert details(await first.finish()).outcome == "ok"
        assert details(await second.finish()).outcome == "ok"
        assert len(pool_of(runtime).sessions) == 1
    assert len(backend.kernels) == 1


async def test_a_start_that_hangs_ends_with_the_calls_deadline(tmp_path: Path) -> None:
    backend = MemoryBackend({"a": []}, on_start=anyio.sleep_forever)
    async with scripted_runtime(backend, tmp_path) as runtime:
        result = await call(runtime, "a", timeout=1)
        assert pool_of(runtime)._with_kernel == set()
    assert details(result).outcome == "timeout"
    assert "Command timed out after 1 seconds" in result.text


async def test_a_start_that_hangs_can_be_aborted_and_cancelled(tmp_path: Path) -> None:
    backend = MemoryBackend({"a": []}, on_start=anyio.sleep_forever)
    abort = anyio.Event()
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        aborted = begin(group, runtime, "a", abort=abort)
        await anyio.wait_all_tasks_blocked()
        abort.set()
        result = await aborted.finish()
        cancelled = begin(group, runtime, "a")
        await anyio.wait_all_tasks_blocked()
        cancelled.scope.cancel()
        await cancelled.ended.wait()
        assert pool_of(runtime)._with_kernel == set()
    assert details(result).outcome == "aborted"
    assert "Nothing was run: the kernel was not up yet." in result.text


async def test_a_reason_that_is_a_sentence_ends_in_one_full_stop(tmp_path: Path) -> None:
    async def locked_out() -> None:
        raise DeadlineExceeded("The shared gateway was not free within 1 seconds: it is being started by process 3.")

    async with scripted_runtime(MemoryBackend({"a": []}, on_start=locked_out), tmp_path) as runtime:
        result = await call(runtime, "a")
    assert result.text.rstrip().endswith("it is being started by process 3.")
    assert ".." not in result.text


async def test_a_start_that_fails_is_told_and_the_next_call_tries_again(tmp_path: Path) -> None:
    failures = [KernelStartError("no such interpreter", hint="Install one.")]

    async def start() -> None:
        if failures:
            raise failures.pop()
        await anyio.lowlevel.checkpoint()

    backend = MemoryBackend({"a": [Result({"text/plain": "1"})]}, on_start=start)
    async with scripted_runtime(backend, tmp_path) as runtime:
        failed = await call(runtime, "a")
        worked = await call(runtime, "a")
    assert (failed.is_error, failed.text) == (True, "Error: no such interpreter\nInstall one.")
    assert (worked.is_error, worked.text) == (False, "1")


async def test_cancelling_the_task_interrupts_the_cell_and_the_kernel_stays(tmp_path: Path) -> None:
    backend = MemoryBackend({"long": [say("long"), WaitForInterrupt()], "next": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        long = begin(group, runtime, "long")
        await long.watcher.prints("long")
        long.scope.cancel()
        await long.ended.wait()
        assert long.scope.cancelled_caught
        assert long.result is None
        result = await call(runtime, "next")
    (kernel,) = backend.kernels
    assert kernel.interrupts == 1
    assert (details(result).outcome, kernel_of(result).state) == ("ok", "kept")


async def test_the_interrupt_is_sent_again_at_half_the_grace(tmp_path: Path) -> None:
    backend = MemoryBackend({"deaf": [say("deaf"), IgnoreInterrupt(), WaitForInterrupt()]})
    async with scripted_runtime(backend, tmp_path, interrupt_grace=0.2) as runtime:
        result = await call(runtime, "deaf", timeout=1)
    (kernel,) = backend.kernels
    assert kernel.interrupts == 2
    assert details(result).outcome == "timeout"
    assert kernel_of(result).state == "kept"


@pytest.mark.parametrize("options", [{}, {"abort": anyio.Event}], ids=["plain", "with abort"])
async def test_an_error_of_a_listener_ends_the_cell_and_reaches_the_caller(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    backend = MemoryBackend({"long": [say("long"), WaitForInterrupt()], "next": []})

    def fail(update: object) -> None:
        if backend.kernels[0].requests:
            raise ZeroDivisionError

    async with scripted_runtime(backend, tmp_path) as runtime:
        with pytest.raises(ZeroDivisionError):
            await call(runtime, "long", on_update=fail, **{name: make() for name, make in options.items()})
        result = await call(runtime, "next")
    assert backend.kernels[0].interrupts == 1
    assert details(result).outcome == "ok"


async def test_a_listener_that_never_returns_does_not_hold_the_call(tmp_path: Path) -> None:
    backend = MemoryBackend({"stuck": [say("stuck"), Hang()]})

    async def never(update: object) -> None:
        await anyio.sleep_forever()

    began = anyio.current_time()
    async with scripted_runtime(backend, tmp_path, interrupt_grace=0.2) as runtime:
        result = await call(runtime, "stuck", timeout=1, on_update=never)
    assert details(result).outcome == "timeout"
    assert anyio.current_time() - began < 1 + 0.2 + 10


async def test_the_call_goes_on_after_a_listener_that_takes_its_time(tmp_path: Path) -> None:
    heard: list[str] = []

    async def slow(pieces: object) -> None:
        await anyio.lowlevel.checkpoint()
        heard.extend(text for _, text in pieces)  # type: ignore[attr-defined]

    async with scripted_runtime({"a": [say("one"), say("two")]}, tmp_path) as runtime:
        result = await call(runtime, "a", on_output=slow)
    assert result.text == "one\ntwo"
    assert "".join(heard) == "one\ntwo\n"
