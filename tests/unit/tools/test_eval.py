"""Cells in several languages: each in the session of its language, one text, and the truth about each kernel."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from pisces.kernels.base import ExecuteRequest
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Script, Step, WaitFor
from pisces.model.events import Done, Error, Result, Stream, Variable, VariableChanges
from pisces.model.kernel_info import KernelInfo
from pisces.model.results import ToolResult
from tests.fakes.languages import begin_evaluation, evaluate, speaking_runtime
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import begin, call, details, pool_of
from tests.unit.tools.test_session_tool import ask


def kernels_of(result: ToolResult) -> list[KernelInfo]:
    """The kernel of each cell that was reached."""
    return [cell.kernel for cell in details(result).cells if cell.kernel is not None]


def outline(result: ToolResult) -> list[tuple[str, str, int | None]]:
    """Of each cell its language, its status and its exit code."""
    return [(cell.language, cell.status, cell.exit_code) for cell in details(result).cells]


async def test_each_language_has_a_kernel_that_remembers_from_call_to_call(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime:
        first = await evaluate(runtime, [("py", "x = 1"), ("bash", "x = 2"), ("deno", "x")])
        second = await evaluate(runtime, [("bash", "x"), ("py", "x")])
    assert [kernel.spec.kernelspec for kernel in backend.kernels] == ["", "bash", "deno"]
    assert first.text == "[1/3] (ok)\n[2/3] (ok)\n[3/3]\nunknown"
    assert second.text == "[1/2]\n2\n[2/2]\n1"
    assert [(kernel.interpreter, kernel.generation, kernel.state) for kernel in kernels_of(second)] == [
        ("kernelspec bash", 1, "kept"),
        (backend.kernels[0].spec.interpreter, 1, "kept"),
    ]
    assert details(second).session == "default"


async def test_py_is_the_session_of_the_python_tool_and_a_kernelspec_that_of_its_kernel(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x = 1")
        await call(runtime, "x = 2", kernel="bash")
        result = await evaluate(runtime, [("python", "x"), ("bash", "x")])
        assert (await call(runtime, "x", kernel="Bash")).text == "2"
    assert [cell.output for cell in details(result).cells] == ["1\n", "2\n"]
    assert len(backend.kernels) == 2


async def test_sessions_of_other_names_are_apart(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        await evaluate(runtime, [("bash", "x = 1")], session="a")
        assert (await evaluate(runtime, [("bash", "x")], session="b")).text.endswith("\n\nunknown")
        assert (await evaluate(runtime, [("bash", "x")], session="a")).text == "1"


async def test_a_reset_is_of_the_language_of_its_cell_and_before_that_cell(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"language": "bash", "code": "x"},
        {"language": "bash", "code": "x", "reset": True},
        {"language": "py", "code": "x"},
    ]
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        await evaluate(runtime, [("bash", "x = 1"), ("py", "x = 2")])
        result = await evaluate(runtime, cells)
    assert [cell.output.strip() for cell in details(result).cells] == ["1", "unknown", "2"]
    assert [(kernel.generation, kernel.state) for kernel in kernels_of(result)] == [
        (1, "kept"),
        (2, "kept"),
        (1, "kept"),
    ]
    assert details(result).notices == [
        "bash: The reset dropped the state. It cannot be taken back: this kernel cannot keep its state."
    ]


async def test_two_resets_of_one_language_at_once_make_one_fresh_kernel(tmp_path: Path) -> None:
    go, starts = anyio.Event(), 0

    async def slow_start() -> None:
        nonlocal starts
        starts += 1
        if starts > 1:
            await go.wait()

    backend = MemoryBackend(remembering, on_start=slow_start)
    cells = [{"language": "bash", "code": "x", "reset": True}]
    async with speaking_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        await evaluate(runtime, [("bash", "x = 1")])
        calls = []
        for _ in range(2):
            calls.append(begin_evaluation(group, runtime, cells))
            await anyio.wait_all_tasks_blocked()
        go.set()
        results = [await evaluation.finish() for evaluation in calls]
    assert [result.text.splitlines()[0] for result in results] == ["unknown", "unknown"]
    assert ["The reset dropped" in result.text for result in results] == [True, False], "the second has joined it"
    assert len(backend.kernels) == 2


async def test_the_first_cell_that_fails_is_the_last_that_runs(tmp_path: Path) -> None:
    script: Script = {"ok": [], "fail": [Error("E", "no", ("E: no",)), Done("error", exit_code=7)]}
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "ok"), ("bash", "fail"), ("py", "ok")])
        alone = await evaluate(runtime, [("bash", "fail")])
        going_on = await evaluate(runtime, [("bash", "fail"), ("py", "ok"), ("deno", "fail")], keep_going=True)
    assert outline(result) == [("py", "complete", 0), ("bash", "error", 7), ("py", "pending", None)]
    assert (details(result).outcome, result.is_error) == ("error", True)
    assert result.text.endswith(
        "Cell 2 failed (exit code 7). Earlier cells succeeded; their state persists. Fix only cell 2."
    )
    assert alone.text.endswith("Command exited with code 7")
    assert outline(going_on) == [("bash", "error", 7), ("py", "complete", 0), ("deno", "error", 7)]
    assert details(going_on).outcome == "error"
    assert going_on.text.endswith("2 cells failed: cell 1 (exit code 7), cell 3 (exit code 7).")


def counting(request: ExecuteRequest, namespace: dict[str, Any]) -> Iterator[Step]:
    """A kernel that says what a cell did to the names, as kernels of Python do."""
    added = VariableChanges(added=(Variable(request.code, "int"),))
    yield Done("ok", variables=added if request.inspect else None)


async def test_variables_are_those_of_the_configured_python(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(counting), tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "a"), ("bash", "b"), ("py", "c"), ("deno", "d")])
        none = await evaluate(runtime, [("bash", "e")])
    variables = details(result).variables
    assert variables is not None
    assert [variable.name for variable in variables.added] == ["a", "c"]
    assert details(none).variables is None


def artifacts_in(folder: Path) -> list[Path]:
    """The artifacts of calls of `eval`."""
    return list(folder.rglob("*.eval.log"))


async def test_one_call_has_one_text_one_artifact_and_all_that_is_rich(tmp_path: Path) -> None:
    script: Script = {
        "long": [Stream("stdout", "x" * 99 + "\n" + "y" * 99 + "\n") for _ in range(400)],
        "json": [Result({"application/json": {"a": 1}})],
    }
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "long"), ("bash", "long"), ("deno", "json")])
    found = details(result)
    assert found.artifact_id is not None
    (artifact,) = artifacts_in(tmp_path)
    assert str(artifact) == found.full_output_path
    assert artifact.read_text(encoding="utf-8").count("x" * 99) == 800
    assert found.json_outputs == [{"a": 1}]


async def test_listeners_hear_of_all_cells(tmp_path: Path) -> None:
    heard: list[tuple[int, str]] = []
    script: Script = {"a": [Stream("stdout", "from a\n")], "b": [Stream("stdout", "from b\n")]}
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime, anyio.create_task_group() as group:
        evaluation = begin_evaluation(
            group,
            runtime,
            [("py", "a"), ("bash", "b")],
            on_output=lambda pieces: heard.extend((record.index, text) for record, text in pieces),
        )
        await evaluation.finish()
    assert heard == [(0, ""), (0, "from a\n"), (1, ""), (1, "from b\n")]
    assert [cell.status for cell in evaluation.watcher.updates[0].cells] == ["running", "pending"]
    assert [cell.language for cell in evaluation.watcher.updates[-1].cells] == ["py", "bash"]
    assert "from a" in evaluation.watcher.updates[-1].tail


async def test_per_call_mode_gives_a_call_kernels_of_its_own_that_end_with_it(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path, kernelMode="per-call") as runtime:
        first = await evaluate(runtime, [("bash", "x = 1"), ("py", "x"), ("bash", "x")])
        second = await evaluate(runtime, [("bash", "x")])
        assert pool_of(runtime).sessions == []
    assert [cell.output.strip() for cell in details(first).cells] == ["", "unknown", "1"]
    assert second.text == "unknown"
    assert details(first).session != details(second).session


async def test_a_language_whose_session_is_busy_waits_for_its_turn_and_no_other(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"slow": [Stream("stdout", "begun\n"), WaitFor(go)], "quick": []}
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin_evaluation(group, runtime, [("bash", "slow")])
        await running.watcher.prints("begun")
        assert not (await evaluate(runtime, [("py", "quick")])).is_error
        waiting = await evaluate(runtime, [{"language": "bash", "code": "quick", "timeout": 1}])
        go.set()
        assert not (await running.finish()).is_error
    assert details(waiting).outcome == "timeout"
    assert "Nothing was run: the calls before this one in the session had not finished." in waiting.text


async def test_a_job_that_holds_the_session_is_named_and_one_that_finished_is_told(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"slow": [WaitFor(go)], "quick": []}
    async with speaking_runtime(MemoryBackend(script), tmp_path) as runtime:
        await call(runtime, "slow", background=True)
        cells: list[dict[str, Any]] = [
            {"language": "bash", "code": "quick"},
            {"language": "py", "code": "quick", "timeout": 1},
        ]
        waited = await evaluate(runtime, cells)
        go.set()
        await ask(runtime, "wait", job="job-1")
    assert "Cell 2 was not run: the calls before this one in the session had not finished." in waited.text
    assert "The session is busy with job-1" in waited.text


async def test_the_session_tool_means_python_unless_it_is_told_which_kernel(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        await evaluate(runtime, [("py", "x = 1"), ("bash", "x = 2"), ("deno", "x = 3")])
        bash = await ask(runtime, "close", kernel="bash")
        python = await ask(runtime, "close")
        left = await ask(runtime, "list")
    assert not bash.is_error, bash.text
    assert not python.is_error, python.text
    assert [session.interpreter for session in left.details.sessions] == ["kernelspec deno"]


async def test_a_call_of_python_runs_between_two_cells_of_eval(tmp_path: Path) -> None:
    """Each cell has its turn by itself: a call that came first is not made to wait for other languages."""
    go = anyio.Event()
    script: Script = {"first": [], "slow": [Stream("stdout", "begun\n"), WaitFor(go)], "between": [], "last": []}
    backend = MemoryBackend(script)
    async with speaking_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        evaluation = begin_evaluation(group, runtime, [("py", "first"), ("bash", "slow"), ("py", "last")])
        await evaluation.watcher.prints("begun")
        between = begin(group, runtime, "between")
        assert not (await between.finish()).is_error
        go.set()
        assert not (await evaluation.finish()).is_error
    assert [request.code for request in backend.kernels[0].requests] == ["first", "between", "last"]


async def test_a_new_session_is_announced_once_for_all_languages(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        first = await evaluate(runtime, [("py", "x = 1"), ("bash", "x = 1")], session="new")
        second = await evaluate(runtime, [("deno", "x = 1")], session="new")
    assert first.text.count("This is a new session 'new'.") == 1
    assert "new session" not in second.text
