"""Cells that are stopped, kernels that die or do not start: what `eval` says of each language."""

import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.errors import KernelStartError
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Die, Script, WaitFor, WaitForInterrupt
from pisces.model.events import ProcessExit, Stream
from tests.fakes.languages import begin_evaluation, evaluate, speaking_runtime
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import details, kernel_of, pool_of
from tests.unit.tools.test_eval import kernels_of, outline
from tests.unit.tools.test_session_tool import ask


async def test_each_cell_has_a_time_of_its_own(tmp_path: Path) -> None:
    backend = MemoryBackend({"slow": [Stream("stdout", "begun\n"), WaitForInterrupt()], "quick": []})
    cells: list[dict[str, Any]] = [
        {"language": "py", "code": "quick", "timeout": 500},
        {"language": "bash", "code": "slow", "timeout": 1},
        {"language": "py", "code": "quick"},
    ]
    async with speaking_runtime(backend, tmp_path) as runtime:
        result = await evaluate(runtime, cells)
    assert outline(result) == [("py", "complete", 0), ("bash", "error", 124), ("py", "pending", None)]
    assert (details(result).outcome, details(result).cancelled) == ("timeout", True)
    assert "begun" in result.text
    assert "Command timed out after 1 seconds" in result.text
    assert [kernel.interrupts for kernel in backend.kernels] == [0, 1]
    assert kernels_of(result)[1].state == "kept"


async def test_zero_is_no_limit_at_all(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"slow": [Stream("stdout", "begun\n"), WaitFor(go)]}
    cells = [{"language": "bash", "code": "slow", "timeout": 0}]
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime, anyio.create_task_group() as group:
        evaluation = begin_evaluation(group, runtime, cells)
        await evaluation.watcher.prints("begun")
        (session,) = pool_of(runtime).sessions
        assert session.active_stop is not None
        assert session.active_stop.remaining() == float("inf")
        go.set()
        assert not (await evaluation.finish()).is_error


@pytest.mark.parametrize("language", ["py", "bash"])
async def test_an_abort_stops_the_cell_that_runs_and_no_other_begins(tmp_path: Path, language: str) -> None:
    abort = anyio.Event()
    backend = MemoryBackend({"slow": [Stream("stdout", "begun\n"), WaitForInterrupt()], "quick": []})
    async with speaking_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        cells = [("py", "quick"), (language, "slow"), ("deno", "quick")]
        evaluation = begin_evaluation(group, runtime, cells, abort=abort)
        await evaluation.watcher.prints("begun")
        abort.set()
        result = await evaluation.finish()
    assert (details(result).outcome, [cell.status for cell in details(result).cells]) == (
        "interrupted",
        ["complete", "error", "pending"],
    )
    assert "deno" not in [kernel.spec.kernelspec for kernel in backend.kernels]


async def test_a_later_cell_that_is_aborted_while_its_kernel_starts_was_not_run(tmp_path: Path) -> None:
    abort, starting = anyio.Event(), anyio.Event()
    starts = 0

    async def hang() -> None:
        nonlocal starts
        starts += 1
        if starts == 2:
            starting.set()
            await anyio.sleep_forever()

    backend = MemoryBackend({"quick": []}, on_start=hang)
    async with speaking_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        evaluation = begin_evaluation(group, runtime, [("py", "quick"), ("bash", "quick")], abort=abort)
        await starting.wait()
        abort.set()
        result = await evaluation.finish()
    assert details(result).outcome == "interrupted"
    assert "Cell 2 was not run: the kernel was not up yet." in result.text
    assert outline(result) == [("py", "complete", 0), ("bash", "pending", None)]


async def test_an_abort_before_anything_is_aborted(tmp_path: Path) -> None:
    abort = anyio.Event()
    abort.set()
    backend = MemoryBackend({"quick": []})
    async with speaking_runtime(backend, tmp_path) as runtime:
        result = await evaluate(runtime, [("bash", "quick"), ("py", "quick")], abort=abort)
    assert details(result).outcome == "aborted"
    assert "Nothing was run" in result.text
    assert [request for kernel in backend.kernels for request in kernel.requests] == []


async def test_a_kernel_that_does_not_start_leaves_what_the_cells_before_it_said(tmp_path: Path) -> None:
    starts = 0

    async def fail_the_second() -> None:
        nonlocal starts
        starts += 1
        if starts == 2:
            raise KernelStartError("bash is broken", hint="Install it again.")

    backend = MemoryBackend({"say": [Stream("stdout", "said\n")]}, on_start=fail_the_second)
    async with speaking_runtime(backend, tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "say"), ("bash", "say")])
        again = await evaluate(runtime, [("bash", "say")])
    assert result.text == (
        "[1/2]\nsaid\n\nCell 2 was not run: bash is broken\nInstall it again.\n"
        "Cell 2 failed (exit code 1). Earlier cells succeeded; their state persists. Fix only cell 2."
    )
    assert outline(result) == [("py", "complete", 0), ("bash", "error", 1)]
    assert (details(result).outcome, again.text) == ("error", "said")


async def test_a_first_kernel_that_does_not_start_is_a_refused_call(tmp_path: Path) -> None:
    async def fail() -> None:
        raise KernelStartError("bash is broken", hint="Install it again.")

    async with speaking_runtime(MemoryBackend({}, on_start=fail), tmp_path) as runtime:
        result = await evaluate(runtime, [("bash", "x"), ("py", "x")])
    assert (result.text, result.details) == ("Error: bash is broken\nInstall it again.", None)


async def test_a_crash_is_told_for_its_language_and_the_cells_that_are_lost_are_named(tmp_path: Path) -> None:
    cells = [("bash", "x = 1"), ("py", "x = 2"), ("bash", "x = 3"), ("bash", "die"), ("py", "x")]
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        result = await evaluate(runtime, cells)
        after = await evaluate(runtime, [("py", "x"), ("bash", "x")])
    assert result.text.splitlines()[0].startswith(
        "[State: lost] bash: The kernel was ended by SIGKILL. The state is lost"
    )
    assert result.text.endswith("Cell 4 failed (exit code 137). What cells 1, 3 did is lost too: run them again.")
    assert [kernel.state for kernel in kernels_of(result)] == ["kept", "kept", "kept", "lost"]
    assert (details(result).outcome, kernel_of(result).state) == ("crashed", "lost")
    assert [cell.output.strip() for cell in details(after).cells] == ["2", "unknown"]
    assert details(after).notices == []
    assert [kernel.generation for kernel in kernels_of(after)] == [1, 2]


async def test_a_loss_between_calls_is_told_first_with_its_language_whichever_cell_it_is(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime:
        await evaluate(runtime, [("py", "x = 1"), ("bash", "x = 2")])
        backend.kernels[1].die(ProcessExit(signal=signal.SIGKILL))
        result = await evaluate(runtime, [("py", "x"), ("bash", "x"), ("py", "x")])
    assert result.text.startswith("[State: lost] bash: The kernel had ended since the last call")
    assert [kernel.state for kernel in kernels_of(result)] == ["kept", "lost", "kept"]
    assert (kernel_of(result).interpreter, kernel_of(result).state) == ("kernelspec bash", "lost")
    assert details(result).outcome == "ok"


async def test_a_loss_between_two_cells_of_a_call_is_told_with_the_cells_it_took(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)

    def kill_bash(pieces: object) -> None:
        if len(backend.kernels) == 2 and backend.kernels[1].requests:
            backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))

    async with speaking_runtime(backend, tmp_path) as runtime:
        cells = [("bash", "x = 1"), ("py", "x"), ("bash", "die")]
        result = await evaluate(runtime, cells, on_output=kill_bash)
    assert result.text.startswith("[State: lost] bash: The kernel had ended since the last call")
    assert "What cell 1 did is lost too: run it again." in result.text


async def test_a_loss_that_a_cancelled_call_would_have_told_is_told_by_the_next(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        await evaluate(runtime, [("bash", "x = 1")])
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        evaluation = begin_evaluation(group, runtime, [("bash", "x"), ("py", "wait")])
        await evaluation.watcher.prints("waiting")
        evaluation.scope.cancel()
        await evaluation.settled()
        untouched = await evaluate(runtime, [("py", "x")])
        told = await evaluate(runtime, [("bash", "x")])
    assert backend.kernels[2].interrupts == 1
    assert details(untouched).notices == []
    assert told.text.startswith("[State: lost] bash: The kernel had ended since the last call")


async def test_the_session_tool_interrupts_the_cell_that_runs_in_whatever_language(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime, anyio.create_task_group() as group:
        evaluation = begin_evaluation(group, runtime, [("py", "x"), ("bash", "wait"), ("py", "x")])
        await evaluation.watcher.prints("waiting")
        answer = await ask(runtime, "interrupt")
        result = await evaluation.finish()
    assert "is being stopped" in answer.text
    assert details(result).outcome == "interrupted"


async def test_the_death_of_a_kernel_that_was_never_used_is_nobody_elses(tmp_path: Path) -> None:
    script: Script = {"die": [Die(signal=signal.SIGSEGV)], "ok": []}
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "ok"), ("bash", "die")])
        after = await evaluate(runtime, [("py", "ok")])
    assert result.text.endswith(
        "Cell 2 failed (exit code 139). Earlier cells succeeded; their state persists. Fix only cell 2."
    )
    assert details(after).notices == []
