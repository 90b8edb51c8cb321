"""Sessions whose kernels live on a gateway: they keep their state, say when it is gone, and outlive who made them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import msgspec
import pytest

from pisces import Runtime
from tests.fakes.cutting_proxy import cutting_proxy
from tests.fakes.drive import eventually
from tests.fakes.hosts import end_host, kill_host
from tests.fakes.runtimes import begin, call, details, kernel_of, pool_of, runtime_on
from tests.fakes.servers import Server, ask
from tests.frontends.command import Command

SLEEP = "import time\nprint('ready', flush=True)\ntime.sleep(60)"
DEAF = "import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass"


def to_gateway(server: Server) -> dict[str, str]:
    return {"PI_PYTHON_GATEWAY_URL": server.url, "PI_PYTHON_GATEWAY_TOKEN": server.token}


def kernel_id(runtime: Runtime) -> str:
    (session,) = pool_of(runtime).sessions
    ticket = getattr(session.kernel, "ticket", None)
    assert ticket is not None
    return str(ticket.kernel)


def recorded(home: Path) -> str:
    """The id of the kernel that is recorded for the only session."""
    (record,) = (home / ".pisces" / "agent" / "kernels").glob("*.json")
    return str(msgspec.json.decode(record.read_bytes())["ticket"]["kernel"])


def is_gone(server: Server, kernel: str) -> bool:
    """Whether the server has no such kernel."""
    try:
        ask(server, f"/api/kernels/{kernel}")
    except OSError:
        return True
    return False


@pytest.fixture
async def runtime(kernel_gateway: Server, plain_python: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    environ = to_gateway(kernel_gateway)
    async with runtime_on(plain_python, tmp_path, environ=environ, interrupt_grace=3) as made:
        yield made


@pytest.fixture
def pisces(plain_python: str, kernel_gateway: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    for name, value in to_gateway(kernel_gateway).items():
        monkeypatch.setenv(name, value)
    command = Command(plain_python)
    yield command
    command("session", "close", "s")
    end_host(command)


async def test_a_session_keeps_its_state_and_names_its_backend(runtime: Runtime, kernel_gateway: Server) -> None:
    await call(runtime, "x = 41")
    result = await call(runtime, "x + 1")
    assert result.text == "42"
    kernel = kernel_of(result)
    assert (kernel.backend, kernel.state, kernel.generation) == ("gateway", "kept", 1)
    assert kernel_gateway.url in kernel.interpreter
    changes = details(await call(runtime, "y = [1]")).variables
    assert changes is not None
    assert [variable.name for variable in changes.added] == ["y"]


async def test_a_reset_gives_a_fresh_kernel(runtime: Runtime) -> None:
    await call(runtime, "x = 1")
    result = await call(runtime, "'x' in globals()", reset=True)
    assert (result.text.splitlines()[0], kernel_of(result).generation) == ("False", 2)
    assert "dropped 1 variable: x. It cannot be taken back: this kernel cannot keep its state." in result.text


async def test_a_kernel_that_somebody_restarts_is_said_to_be_empty(runtime: Runtime, kernel_gateway: Server) -> None:
    await call(runtime, "x = 1")
    ask(kernel_gateway, f"/api/kernels/{kernel_id(runtime)}/restart", method="POST", body={})
    (session,) = pool_of(runtime).sessions
    for _ in range(1000):
        if not await session.has_kernel():
            break
        await anyio.sleep(0.01)
    result = await call(runtime, "'x' in globals()")
    assert kernel_of(result).state == "lost"
    assert result.text.startswith("[State: lost]")
    assert result.text.endswith("False")


async def test_a_kernel_that_somebody_ended_is_said_to_be_gone(runtime: Runtime, kernel_gateway: Server) -> None:
    await call(runtime, "x = 1")
    ask(kernel_gateway, f"/api/kernels/{kernel_id(runtime)}", method="DELETE")
    result = await call(runtime, "'x' in globals()")
    assert kernel_of(result).state == "lost"
    assert result.text.startswith("[State: lost]")


async def test_a_cell_that_kills_its_kernel_runs_once(runtime: Runtime, tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = f"import os\nwith open({str(told)!r}, 'a') as file: file.write('ran\\n')\nos.kill(os.getpid(), 9)"
    result = await call(runtime, code)
    assert (details(result).outcome, kernel_of(result).state) == ("crashed", "lost")
    assert told.read_text(encoding="utf-8") == "ran\n"
    assert (await call(runtime, "1 + 1")).text == "2"


@pytest.mark.heavy
async def test_a_kernel_that_is_busy_with_what_a_cell_left_holds_up_no_call(runtime: Runtime, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    later = f"def busy(): open({str(flag)!r}, 'w').close(); time.sleep(12)"
    await call(runtime, f"import asyncio, time\nx = 41\n{later}\nasyncio.get_running_loop().call_later(0.2, busy)")
    (tmp_path / "other").mkdir()
    await eventually(flag.exists)
    result = await call(runtime, "x + 1", cwd=str(tmp_path / "other"), timeout=2)
    assert (details(result).outcome, kernel_of(result).state) == ("timeout", "kept")
    assert "it was not run" in result.text
    assert (await call(runtime, "x + 1", timeout=30)).text == "42"


async def test_a_timeout_interrupts_the_cell_and_keeps_the_state(runtime: Runtime) -> None:
    await call(runtime, "x = 41")
    result = await call(runtime, SLEEP, timeout=1)
    assert (details(result).outcome, kernel_of(result).state) == ("timeout", "kept")
    assert "Command timed out after 1 seconds" in result.text
    assert (await call(runtime, "x + 1")).text == "42"


async def test_a_cell_that_does_not_stop_costs_its_kernel_and_that_is_said(runtime: Runtime) -> None:
    await call(runtime, "x = 41")
    result = await call(runtime, DEAF, timeout=1)
    assert (details(result).outcome, kernel_of(result).state) == ("timeout", "lost")
    result = await call(runtime, "'x' in globals()")
    assert result.text == "False"


async def test_a_gateway_that_is_away_when_the_time_is_up_costs_no_state(
    kernel_gateway: Server, plain_python: str, tmp_path: Path
) -> None:
    async with cutting_proxy(kernel_gateway.url) as proxy:
        environ = {**to_gateway(kernel_gateway), "PI_PYTHON_GATEWAY_URL": proxy.url}
        async with runtime_on(plain_python, tmp_path, environ=environ, interrupt_grace=0.5) as made:
            await call(made, "x = 41")
            async with anyio.create_task_group() as group:
                running = begin(group, made, SLEEP, timeout=5)
                await running.watcher.prints("ready")
                proxy.refusing = True
                await proxy.cut()
                result = await running.finish()
            assert (details(result).outcome, kernel_of(result).state) == ("timeout", "unknown")
            assert result.text.startswith("[State: unknown]")
            proxy.refusing = False
            result = await call(made, "x + 1")
            assert (result.text, kernel_of(result).state) == ("42", "kept")


async def test_leaving_the_runtime_ends_its_kernels(kernel_gateway: Server, plain_python: str, tmp_path: Path) -> None:
    environ = to_gateway(kernel_gateway)
    async with runtime_on(plain_python, tmp_path, environ=environ) as made:
        await call(made, "1")
        ended = kernel_id(made)

    await eventually(lambda: is_gone(kernel_gateway, ended))


def test_a_session_is_there_after_its_host_was_killed(pisces: Command, tmp_path: Path) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    kill_host()
    later = pisces("run", "--session", "s", "-c", "x + 1", cwd=tmp_path)
    assert (later.stdout, later.stderr) == ("42\n", "")


def test_a_session_is_there_after_its_host_was_stopped(pisces: Command, tmp_path: Path) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    assert "stay on their gateway: s." in pisces("host", "stop").stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    later = pisces("run", "--session", "s", "-c", "x + 1", cwd=elsewhere)
    assert later.stdout == "42\n"
    assert f"The session was made in {tmp_path}" in later.stderr


def test_a_kernel_that_is_gone_meanwhile_is_said_to_be_gone(
    pisces: Command, kernel_gateway: Server, tmp_path: Path, own_home: Path
) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    pisces("host", "stop")
    (record,) = (own_home / ".pisces" / "agent" / "kernels").glob("*.json")
    assert record.stat().st_mode & 0o777 == 0o600
    assert kernel_gateway.token not in record.read_text(encoding="utf-8")
    ask(kernel_gateway, f"/api/kernels/{recorded(own_home)}", method="DELETE")
    later = pisces("run", "--session", "s", "-c", "'x' in globals()", cwd=tmp_path)
    assert later.stdout == "False\n"
    assert "[State: lost] The kernel of this session is gone from" in later.stderr


def test_a_closed_session_leaves_no_record_and_no_kernel(
    pisces: Command, kernel_gateway: Server, tmp_path: Path, own_home: Path
) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    pisces("session", "close", "s")
    assert list((own_home / ".pisces" / "agent" / "kernels").glob("*.json")) == []
    assert pisces("run", "--session", "s", "-c", "'x' in globals()", cwd=tmp_path).stdout == "False\n"


def test_a_session_that_was_left_is_found_by_commands_about_sessions_too(pisces: Command, tmp_path: Path) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    pisces("host", "stop")
    assert "s: left on " in pisces("session", "list", cwd=tmp_path).stdout
    assert "x" in pisces("session", "variables", "s", cwd=tmp_path).stdout
    pisces("host", "stop")
    assert "is closed" in pisces("session", "close", "s", cwd=tmp_path).stdout
    assert pisces("run", "--session", "s", "-c", "'x' in globals()", cwd=tmp_path).stdout == "False\n"


def test_a_session_that_was_left_on_one_gateway_is_not_looked_for_on_another(
    pisces: Command, kernel_gateway: Server, tmp_path: Path
) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    pisces("host", "stop")
    for elsewhere in ({"PI_PYTHON_GATEWAY_URL": ""}, {"PI_PYTHON_GATEWAY_URL": "http://127.0.0.1:9"}):
        refused = pisces("run", "--session", "s", "-c", "x", cwd=tmp_path, variables=elsewhere)
        assert refused.returncode == 2
        assert f"The kernel of session 's' is on the gateway at {kernel_gateway.url}" in refused.stderr
    assert pisces("run", "--backend", "native", "--session", "s", "-c", "x", cwd=tmp_path).returncode == 2
    assert pisces("run", "--session", "s", "-c", "x + 1", cwd=tmp_path).stdout == "42\n"


def test_a_session_whose_gateway_cannot_be_reached_can_be_given_up(
    pisces: Command, kernel_gateway: Server, tmp_path: Path, own_home: Path
) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    pisces("host", "stop")
    left = recorded(own_home)
    nowhere = {"PI_PYTHON_GATEWAY_URL": ""}
    given_up = pisces("session", "close", "s", cwd=tmp_path, variables=nowhere)
    assert "is given up" in given_up.stdout + given_up.stderr
    assert pisces("run", "--session", "s", "-c", "1", cwd=tmp_path, variables=nowhere).stdout == "1\n"
    ask(kernel_gateway, f"/api/kernels/{left}", method="DELETE")


def test_a_session_that_was_left_stays_what_it_was(pisces: Command, tmp_path: Path) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    pisces("host", "stop")
    refused = pisces("run", "--kernel", "bash", "--session", "s", "-c", "ls", cwd=tmp_path)
    assert (refused.returncode, "cannot change to the kernel bash" in refused.stderr) == (2, True)
    exported = tmp_path / "s.ipynb"
    pisces("session", "export", "s", str(exported), cwd=tmp_path)
    cells = msgspec.json.decode(exported.read_bytes())["cells"]
    assert ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"] == ["x = 41"]
    assert "is closed" in pisces("session", "close", "--all", cwd=tmp_path).stdout


def test_a_session_is_there_after_its_folder_was_removed(pisces: Command, tmp_path: Path) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    pisces("run", "--session", "s", "-c", "x = 41", cwd=folder)
    kill_host()
    folder.rmdir()
    assert pisces("run", "--session", "s", "-c", "x + 1", cwd=tmp_path).stdout == "42\n"


def test_a_reset_ends_the_kernel_that_was_left(
    pisces: Command, kernel_gateway: Server, tmp_path: Path, own_home: Path
) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    kill_host()
    left = recorded(own_home)
    later = pisces("run", "--session", "s", "--reset", "-c", "'x' in globals()", cwd=tmp_path)
    assert later.stdout == "False\n"
    assert "The reset dropped the state. It cannot be taken back" in later.stderr
    assert is_gone(kernel_gateway, left)


def test_a_cell_that_outlives_its_host_can_be_interrupted(pisces: Command, tmp_path: Path) -> None:
    leave_busy(pisces, tmp_path)
    assert "is being stopped" in pisces("session", "interrupt", "s", cwd=tmp_path).stdout
    assert pisces("run", "--session", "s", "-c", "x + 1", cwd=tmp_path).stdout == "42\n"
    kill_host()
    assert pisces("session", "interrupt", "s", cwd=tmp_path).stdout == "Nothing runs in session 's'.\n"


def test_a_session_whose_cell_outlives_its_host_can_be_closed(
    pisces: Command, kernel_gateway: Server, tmp_path: Path, own_home: Path
) -> None:
    leave_busy(pisces, tmp_path)
    left = recorded(own_home)
    assert "is closed" in pisces("session", "close", "s", cwd=tmp_path).stdout
    assert is_gone(kernel_gateway, left)


def leave_busy(pisces: Command, folder: Path) -> None:
    """Leave a session, in which x is 41, without a host and busy with a cell."""
    begun = folder / "begun"
    code = f"import pathlib, time\nx = 41\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(300)"
    pisces("run", "--session", "s", "--background", "-c", code, cwd=folder)
    anyio.run(eventually, begun.exists)
    kill_host()


def test_variables_of_a_kernel_that_is_gone_are_said_to_be_lost(
    pisces: Command, kernel_gateway: Server, tmp_path: Path, own_home: Path
) -> None:
    pisces("run", "--session", "s", "-c", "x = 41", cwd=tmp_path)
    ask(kernel_gateway, f"/api/kernels/{recorded(own_home)}", method="DELETE")
    listed = pisces("session", "variables", "s", cwd=tmp_path).stdout
    assert listed.startswith("[State: lost] The kernel had ended since the last call")
    assert listed.endswith("(no variables)\n")
    assert "[State: lost]" in pisces("run", "--session", "s", "-c", "1", cwd=tmp_path).stderr


def test_a_session_that_was_left_has_the_interpreter_that_it_was_made_with(
    plain_python: str, jupyter_python: str, tmp_path: Path, own_home: Path
) -> None:
    pisces = Command(plain_python)
    made = ("run", "--session", "s", "--backend", "gateway", "--interpreter", jupyter_python)
    try:
        assert pisces(*made, "-c", "x = 41", cwd=tmp_path).stderr == "This is a new session 's'.\n"
        kill_host()
        assert pisces("run", "--session", "s", "-c", "x + 1", cwd=tmp_path).stdout == "42\n"
        assert pisces(*made, "-c", "x + 2", cwd=tmp_path).stdout == "43\n"
        kill_host()
        refused = pisces("run", "--session", "s", "--interpreter", plain_python, "-c", "x", cwd=tmp_path)
        assert (refused.returncode, "cannot change to the interpreter" in refused.stderr) == (2, True)
        assert "Others are:" in pisces("gateway", "stop", cwd=tmp_path).stderr
    finally:
        pisces("session", "close", "s", cwd=tmp_path)
        end_host(pisces)
        pisces("gateway", "stop", "--all")


async def test_a_cell_on_another_machine_reads_the_outputs_of_its_session(runtime: Runtime) -> None:
    shown = details(await call(runtime, "for n in range(40_000): print(n, 'é' * 20)"))
    kept = shown.artifact_id
    assert kept is not None
    # More than one piece of the transfer, and cut within characters.
    counted = await call(runtime, f"text = output({kept})\nlen(text.splitlines()), text.splitlines()[-1]")
    assert counted.text == f"(40000, '39999 {'é' * 20}')"
    lines = await call(runtime, f"output({kept}, offset=30_000, limit=1)")
    assert lines.text == repr(f"29999 {'é' * 20}\n")
    assert details(lines).stdin_requested is False
    elsewhere = runtime.artifacts.add_bytes("other", "python", b"private", extension="log")
    refused = await call(runtime, f"output({elsewhere})")
    assert "private" not in refused.text
    assert f"this session has no artifact {elsewhere}" in refused.text
    assert "tool.read" in refused.text


async def test_helpers_on_another_machine_say_where_the_journal_is(runtime: Runtime) -> None:
    result = await call(runtime, "import os\nprint(os.path.isdir(os.environ['ARTIFACTS']))\nenv('PI_SESSION_FILE')")
    assert result.text.startswith("True\n")
    assert "LookupError: PI_SESSION_FILE" in result.text
    assert "pisces session" in result.text
