"""The `kernel` of the python tool, and `--kernel` and `--backend` of `pisces run`: kernelspecs beside interpreters."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hosts import end_host
from tests.fakes.runtimes import call, details, kernel_of, runtime_on
from tests.fakes.servers import Server
from tests.frontends.command import Command

pytestmark = pytest.mark.heavy


async def test_a_kernelspec_and_an_interpreter_are_sessions_of_their_own(
    jupyter_python: str, plain_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        await call(runtime, "x = 1")
        bash = await call(runtime, ["x=2", "echo $x"], kernel="bash")
        other = await call(runtime, "import sys; sys.prefix", kernel=plain_python)
        again = await call(runtime, "echo $x", kernel="BASH")
        closed = await runtime.session("close", kernel="bash")
        assert (await call(runtime, "x")).text == "1"
        fresh = await call(runtime, "echo -$x-", kernel="bash")
    assert (kernel_of(bash).backend, kernel_of(bash).interpreter) == ("zmq", "kernelspec bash")
    assert details(bash).cells[1].output == "2\n"
    assert details(bash).variables is None
    assert other.text == repr(str(Path(plain_python).parents[1]))
    assert again.text == "2"
    assert not closed.is_error, closed.text
    assert fresh.text == "--"


async def test_a_kernel_that_is_neither_is_refused_with_the_kernelspecs_there_are(
    jupyter_python: str, tmp_path: Path
) -> None:
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        result = await call(runtime, "1", kernel="cobol")
    assert result.text.startswith("Error: The interpreter of `kernel` (cobol) does not work")
    assert "There is no kernelspec 'cobol' either." in result.text
    assert re.search(r"Installed kernelspecs: .*\bbash, .*\bdeno, .*\bpython3\b", result.text)
    assert result.details is None


async def test_kernelspecs_are_found_where_the_caller_says(plain_python: str, tmp_path: Path) -> None:
    spec = tmp_path / "jupyter" / "kernels" / "mine"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    content = {"argv": command, "language": "python", "env": {"MINE": "${HOME}/mine"}}
    (spec / "kernel.json").write_text(json.dumps(content), encoding="utf-8")
    environ = {"JUPYTER_PATH": str(tmp_path / "jupyter")}
    async with runtime_on(plain_python, tmp_path, environ=environ) as runtime:
        result = await call(runtime, "import os; found = os.environ['MINE']; found", kernel="mine")
    assert result.text == repr(f"{tmp_path / 'home'}/mine")
    assert kernel_of(result).interpreter == "kernelspec mine"
    variables = details(result).variables
    assert variables is not None
    assert "found" in [variable.name for variable in variables.added]


async def test_on_an_external_gateway_a_kernelspec_is_the_servers(
    kernel_gateway: Server, plain_python: str, tmp_path: Path
) -> None:
    environ = {"PI_PYTHON_GATEWAY_URL": kernel_gateway.url, "PI_PYTHON_GATEWAY_TOKEN": kernel_gateway.token}
    async with runtime_on(plain_python, tmp_path, environ=environ) as runtime:
        there = await call(runtime, "1 + 1", kernel="deno")
        missing = await call(runtime, "1", kernel="cobol")
        path = await call(runtime, "1", kernel=plain_python)
    assert (there.text, kernel_of(there).interpreter) == ("2", f"{kernel_gateway.url} deno")
    assert "has no kernelspec 'cobol'" in missing.text
    assert "deno (typescript)" in missing.text
    assert "an external gateway has no interpreter" in path.text


@pytest.fixture
def pisces(jupyter_python: str) -> Iterator[Command]:
    command = Command(jupyter_python)
    yield command
    end_host(command)


def test_the_command_line_runs_other_languages(pisces: Command, tmp_path: Path) -> None:
    script = tmp_path / "steps.ts"
    script.write_text("let x: number = 20\nx + 1\n", encoding="utf-8")
    done = pisces("run", "--kernel", "deno", str(script))
    failed = pisces("run", "--kernel", "bash", "-c", "x=1; (exit 7)", "-c", "echo $x")
    wrong = pisces("run", "--kernel", "cobol", "-c", "1")
    assert (done.returncode, done.stdout) == (0, "21\n")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "Cell 1 failed (exit code 7)" in failed.stderr
    assert wrong.returncode == 1
    assert "Installed kernelspecs: " in wrong.stderr


def test_the_command_line_chooses_the_kind_of_kernel(pisces: Command) -> None:
    done = pisces("run", "--backend", "zmq", "--json", "-c", "get_ipython().kernel is not None")
    wrong = pisces("run", "--backend", "magic", "-c", "1")
    kernel = json.loads(done.stdout)["details"]["kernel"]
    assert (done.returncode, kernel["backend"], kernel["state"]) == (0, "zmq", "kept")
    assert json.loads(done.stdout)["content"][0]["text"] == "True"
    assert wrong.returncode == 2
    assert "'auto', 'native', 'gateway', 'zmq'" in wrong.stderr


def test_a_session_keeps_the_kernel_and_the_backend_of_its_first_command(pisces: Command) -> None:
    first = pisces("run", "--session", "shell", "--kernel", "bash", "-c", "x=41; echo made")
    second = pisces("run", "--session", "shell", "-c", "echo $((x + 1))")
    other = pisces("run", "--session", "shell", "--kernel", "deno", "-c", "1")
    pisces("run", "--session", "direct", "--backend", "zmq", "-c", "x = 1")
    direct = pisces("run", "--session", "direct", "--json", "-c", "x")
    changed = pisces("run", "--session", "direct", "--backend", "native", "-c", "x")
    assert (first.stdout, second.stdout) == ("made\n", "42\n")
    assert other.returncode == 2
    assert "cannot change to the kernel deno: it was made with bash" in other.stderr
    assert json.loads(direct.stdout)["details"]["kernel"]["backend"] == "zmq"
    assert changed.returncode == 2
    assert "cannot change to the backend native" in changed.stderr
