"""The `eval` tool on real kernels: Bash and Deno beside Python, directly and on a gateway."""

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from pisces.model.kernel_info import KernelInfo
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.drive import eventually
from tests.fakes.languages import begin_evaluation, evaluate
from tests.fakes.runtimes import call, details, kernel_of, pool_of, runtime_on
from tests.fakes.servers import Server


def outputs(result: ToolResult) -> list[str]:
    """What each cell said."""
    return [cell.output.strip() for cell in details(result).cells]


def kernels_of(result: ToolResult) -> list[KernelInfo]:
    """The kernel of each cell that was reached."""
    return [cell.kernel for cell in details(result).cells if cell.kernel is not None]


def cell(language: str, code: str, **options: Any) -> dict[str, Any]:
    return {"language": language, "code": code, **options}


async def test_three_languages_remember_each_for_itself(jupyter_python: str, tmp_path: Path) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        await call(runtime, "x = 'python'")
        first = await evaluate(runtime, [("bash", "x=shell; pwd"), ("typescript", "let x: string = 'deno'")])
        second = await evaluate(runtime, [("deno", "x"), ("py", "x += '!'; x"), ("bash", "echo $x")])
        assert (await call(runtime, "x")).text == "'python!'"
        assert (await call(runtime, "echo again $x", kernel="bash")).text == "again shell"
    assert outputs(first) == [str(tmp_path), ""]
    assert outputs(second) == ['"deno"', "'python!'", "shell"]
    assert [(kernel.backend, kernel.interpreter) for kernel in kernels_of(second)] == [
        ("zmq", "kernelspec deno"),
        ("native", jupyter_python),
        ("zmq", "kernelspec bash"),
    ]
    assert [(kernel.generation, kernel.state, kernel.phase) for kernel in kernels_of(second)] == [
        (1, "kept", "ready")
    ] * 3
    variables = details(second).variables
    assert variables is not None
    assert [variable.name for variable in variables.changed] == ["x"]
    assert [record.execution_count for record in details(second).cells] == [2, 2, 2]


async def test_commands_fail_with_their_exit_codes_and_a_reset_empties_one_language(
    jupyter_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        first = await evaluate(runtime, [("py", "x = 1"), ("bash", "x=2; false"), ("py", "x = 3")])
        coded = await evaluate(runtime, [("bash", "(exit 7)")])
        cells = [cell("bash", "echo $x"), cell("bash", "echo -$x-", reset=True), cell("py", "x")]
        after = await evaluate(runtime, cells)
    assert [(record.status, record.exit_code) for record in details(first).cells] == [
        ("complete", 0),
        ("error", 1),
        ("pending", None),
    ]
    assert details(first).outcome == "error"
    assert first.text == (
        "[1/3] (ok)\n[2/3]\n\n"
        "Cell 2 failed (exit code 1). Earlier cells succeeded; their state persists. Fix only cell 2."
    )
    assert coded.text == "Command exited with code 7"
    assert outputs(after) == ["2", "--", "1"]
    assert [kernel.generation for kernel in kernels_of(after)] == [1, 2, 1]
    assert [notice.split(".")[0] for notice in details(after).notices] == ["bash: The reset dropped the state"]


async def test_a_cell_that_runs_out_of_its_time_is_interrupted_and_its_language_goes_on(
    jupyter_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        await evaluate(runtime, [("bash", "x=kept")])
        cells = [
            cell("py", "import time; time.sleep(1.2); 'late'", timeout=60),
            cell("bash", "echo begun; sleep 600", timeout=1),
            cell("py", "1"),
        ]
        result = await evaluate(runtime, cells)
        after = await evaluate(runtime, [("bash", "echo $x")])
    assert [(record.status, record.exit_code) for record in details(result).cells] == [
        ("complete", 0),
        ("error", 124),
        ("pending", None),
    ]
    assert (details(result).outcome, details(result).cancelled) == ("timeout", True)
    assert "begun" in result.text
    assert "Command timed out after 1 seconds" in result.text
    assert after.text == "kept"
    assert [(kernel.generation, kernel.state) for kernel in kernels_of(after)] == [(1, "kept")]


async def test_a_kernel_that_dies_is_told_for_its_language_and_the_others_live(
    jupyter_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        await evaluate(runtime, [("py", "x = 1"), ("deno", "let x = 2")])
        result = await evaluate(runtime, [("py", "x"), ("deno", "let y = 3"), ("deno", "Deno.exit(3)"), ("py", "x")])
        after = await evaluate(runtime, [("py", "x"), ("deno", "typeof x")])
    assert result.text.splitlines()[0].startswith("[State: lost] deno: The kernel exited with code 3.")
    assert result.text.endswith("Cell 3 failed (exit code 3). What cell 2 did is lost too: run it again.")
    assert [record.status for record in details(result).cells] == ["complete", "complete", "error", "pending"]
    assert [(kernel.generation, kernel.state) for kernel in kernels_of(result)] == [
        (1, "kept"),
        (1, "kept"),
        (1, "lost"),
    ]
    assert (details(result).outcome, kernel_of(result).state) == ("crashed", "lost")
    assert outputs(after) == ["1", '"undefined"']
    assert [kernel.generation for kernel in kernels_of(after)] == [1, 2]


async def test_a_kernel_that_was_killed_between_calls_is_told_first(jupyter_python: str, tmp_path: Path) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        await evaluate(runtime, [("deno", "let x = 1")])
        pid = int((await evaluate(runtime, [("deno", "Deno.pid")])).text)
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: not psutil.pid_exists(pid))
        result = await evaluate(runtime, [("py", "1"), ("deno", "typeof x")])
    assert result.text.startswith("[State: lost] deno: The kernel had ended since the last call")
    assert outputs(result) == ["1", '"undefined"']
    assert details(result).outcome == "ok"


async def test_an_abort_stops_the_command_that_runs_and_the_call(jupyter_python: str, tmp_path: Path) -> None:
    abort = anyio.Event()
    async with runtime_on(jupyter_python, tmp_path) as runtime, anyio.create_task_group() as group:
        cells = [("bash", "x=kept; echo begun; sleep 600"), ("py", "1")]
        evaluation = begin_evaluation(group, runtime, cells, abort=abort)
        await evaluation.watcher.prints("begun")
        abort.set()
        result = await evaluation.finish()
        after = await evaluate(runtime, [("bash", "echo $x")])
        assert [session.key.kernelspec for session in pool_of(runtime).sessions] == ["bash"]
    assert (details(result).outcome, details(result).cells[0].exit_code) == ("interrupted", 130)
    assert after.text == "kept"


async def test_long_output_and_rich_output_of_another_language(jupyter_python: str, tmp_path: Path) -> None:
    """Bash prints: Deno leaves out lines that it cannot send as fast as it makes them, whoever listens.

    Bash's kernel sends each line by itself, and drops what is more than 1,000 messages ahead of its listener.
    """
    heard: list[str] = []
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        result = await evaluate(
            runtime,
            [
                ("bash", "printf '%0100d\\n' $(seq 900)"),
                ("deno", "({ [Symbol.for('Jupyter.display')]: () => ({ 'application/json': { a: 1 } }) })"),
                ("deno", "prompt('who?')"),
            ],
            on_output=lambda pieces: heard.extend(text for record, text in pieces if record.language == "bash"),
        )
    found = details(result)
    numbers = [f"{number:0100d}" for number in range(1, 901)]
    assert "".join(heard).split() == numbers
    assert found.full_output_path is not None
    assert [line for line in text_of(found.full_output_path).splitlines() if line.isdecimal()] == numbers
    assert "Read artifact://" in result.text
    assert found.json_outputs == [{"a": 1}]
    assert found.stdin_requested
    assert "interactive input is not supported" in found.cells[2].output


def text_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


async def test_a_language_that_is_not_installed_runs_nothing_and_names_those_that_are(
    jupyter_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "1"), ("bash", "touch here"), ("cobol", "x")])
        assert pool_of(runtime).sessions == []
    assert result.text.splitlines()[0] == "Error: There is no kernel for the language 'cobol'. Nothing was run."
    for language in ("py (the configured Python)", "bash (kernelspec bash)", "typescript (kernelspec deno)"):
        assert language in result.text


async def test_a_kernel_that_cannot_be_started_leaves_what_the_cells_before_it_said(
    jupyter_python: str, tmp_path: Path
) -> None:
    spec = tmp_path / "jupyter" / "kernels" / "broken"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["/no/such/kernel"], "language": "cobol"}', encoding="utf-8")
    environ = {"JUPYTER_PATH": str(tmp_path / "jupyter")}
    async with runtime_on(jupyter_python, tmp_path, environ=environ) as runtime:
        result = await evaluate(runtime, [("py", "'said'"), ("cobol", "x"), ("py", "2")])
        alone = await evaluate(runtime, [("broken", "x")])
    assert outputs(result) == ["'said'", "", ""]
    assert [record.status for record in details(result).cells] == ["complete", "error", "pending"]
    assert "Cell 2 was not run: " in result.text
    assert "/no/such/kernel" in result.text
    assert alone.text.startswith("Error: ")
    assert "/no/such/kernel" in alone.text


@pytest.fixture
def on_the_gateway(kernel_gateway: Server, plain_python: str, tmp_path: Path) -> Runtime:
    environ = {"PI_PYTHON_GATEWAY_URL": kernel_gateway.url, "PI_PYTHON_GATEWAY_TOKEN": kernel_gateway.token}
    return runtime_on(plain_python, tmp_path, environ=environ)


async def test_on_an_external_gateway_every_language_runs_there(
    on_the_gateway: Runtime, kernel_gateway: Server
) -> None:
    async with on_the_gateway as runtime:
        first = await evaluate(
            runtime, [("py", "x = 1"), ("typescript", "let x = 2"), ("py", "import os; os.getppid()")]
        )
        second = await evaluate(runtime, [("deno", "x"), ("py", "x")])
        missing = await evaluate(runtime, [("py", "1"), ("cobol", "x")])
    assert int(outputs(first)[2]) == kernel_gateway.pid
    assert outputs(second) == ["2", "1"]
    assert [(kernel.backend, kernel.interpreter) for kernel in kernels_of(second)] == [
        ("gateway", f"{kernel_gateway.url} deno"),
        ("gateway", kernel_gateway.url),
    ]
    assert "typescript (kernelspec deno)" in missing.text
    assert missing.details is None


async def test_a_failed_cell_has_its_exception_as_data_on_kernels_of_jupyter_too(
    jupyter_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path, backend="zmq") as runtime:
        failed = await evaluate(runtime, [("py", "x = 1"), ("py", "raise OSError(2, 'gone')")])
        command = details(await evaluate(runtime, [("bash", "false")]))
    error = details(failed).error
    assert error is not None
    assert (error.cell, error.ename, error.evalue) == (1, "FileNotFoundError", "[Errno 2] gone")
    assert error.traceback[-1] == "FileNotFoundError: [Errno 2] gone"
    assert all("\n" not in line and "\x1b" not in line for line in error.traceback)
    assert (command.outcome, command.error) == ("error", None)
