"""The `bash` tool with real commands: the same text, details and ways to be stopped as `python` has."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools import bash_commands
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import Watcher, details, runtime_on
from tests.fakes.shells import write_rc
from tests.integration.native.processes import alive, pids_in

pytestmark = pytest.mark.usefixtures("no_descriptor_is_left")


async def bash(runtime: Runtime, command: str, *, context: CallContext | None = None, **params: Any) -> ToolResult:
    """Call the tool within the patience of a test."""
    with anyio.fail_after(PATIENCE):
        return await runtime.tool("bash", {"command": command, **params}, context=context)


def runtime_at(folder: Path, python: str, environ: Mapping[str, str] | None = None, **settings: Any) -> Runtime:
    return runtime_on(python, folder, environ=environ, **settings)


async def test_output_of_both_streams_comes_in_order_and_the_details_are_those_of_python(
    plain_python: str, tmp_path: Path
) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, "echo 1; echo 2 >&2; echo 3")
    assert (result.text, result.is_error) == ("1\n2\n3", False)
    found = details(result)
    (record,) = found.cells
    assert (record.code, record.output, record.status) == ("echo 1; echo 2 >&2; echo 3", "1\n2\n3\n", "complete")
    assert (record.exit_code, found.session, found.kernel, found.outcome) == (0, "", None, "ok")
    assert record.duration_ms is not None


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("true", "(no output)", 0),
        ("echo said; exit 3", "said\n\nCommand exited with code 3", 3),
        ("kill -9 $$", "Command exited with code 137", 137),
        ("-x 2>/dev/null", "Command exited with code 127", 127),
        ("no-such-program 2>/dev/null", "Command exited with code 127", 127),
        ("printf 'grüße \\377\\033[1mbold\\033[0m'", "grüße �bold", 0),
        ("printf 'a\\rb\\n'", "b", 0),
    ],
)
async def test_how_a_command_ended_is_said(
    plain_python: str, tmp_path: Path, command: str, text: str, code: int
) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, command)
    assert (result.text, result.is_error) == (text, code != 0)
    assert (details(result).cells[0].exit_code, details(result).outcome) == (code, "error" if code else "ok")


async def test_folder_and_variables_are_for_one_call(plain_python: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, "cd /; echo $PWD $X; pwd", cwd="sub", env={"X": "given"})
        after = await bash(runtime, "echo $PWD [$X]")
    assert result.text == "/ given\n/"
    assert after.text == f"{os.path.realpath(tmp_path)} []"  # noqa: ASYNC240 - a name in memory is all it looks up


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"command": " "}, "`command` is empty"),
        ({}, "command"),
        ({"command": "a\0b"}, "null characters"),
        ({"command": "true", "cwd": "no/such"}, "Working directory does not exist"),
        ({"command": "true", "cwd": "/etc/passwd"}, "Working directory is not a directory"),
        ({"command": "true", "env": {"A=B": "x"}}, "A=B"),
        ({"command": "true", "env": {"A": 1}}, "env"),
        ({"command": "true", "timeout": float("nan")}, "timeout"),
        ({"command": "true", "cells": []}, "Unknown parameter `cells`"),
    ],
)
async def test_wrong_parameters_are_refused(
    plain_python: str, tmp_path: Path, params: dict[str, Any], words: str
) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await runtime.tool("bash", params)
    assert result.is_error
    assert result.text.startswith("Error: ")
    assert words in result.text


async def test_the_environment_is_that_of_kernels(plain_python: str, tmp_path: Path) -> None:
    outside = {"MY_TOKEN": "secret", "OPENAI_API_KEY": "secret", "RANDOM_NAME": "x", "LC_ALL": "C.UTF-8"}
    async with runtime_at(tmp_path, plain_python, outside) as runtime:
        result = await bash(runtime, "env; command -v python")
    names = {line.partition("=")[0] for line in result.text.splitlines()}
    assert names.isdisjoint({"MY_TOKEN", "OPENAI_API_KEY", "RANDOM_NAME", "JPY_PARENT_PID", "BASH_ENV"})
    assert {"LC_ALL", "GIT_TERMINAL_PROMPT", "PI_SHELL_SNAPSHOT", "PI_ARTIFACTS_DIR"} <= names
    assert result.text.splitlines()[-1] == str(Path(plain_python).parent / "python")


async def test_commands_run_where_there_is_no_python(tmp_path: Path) -> None:
    async with runtime_at(tmp_path, "/no/such/python") as runtime:
        assert (await bash(runtime, "echo works")).text == "works"


async def test_functions_and_aliases_of_the_user_count(plain_python: str, tmp_path: Path) -> None:
    write_rc(tmp_path / "home", "alias hi='greet you'\ngreet() { echo \"hello $1\"; }")
    async with runtime_at(tmp_path, plain_python) as runtime:
        assert (await bash(runtime, "hi")).text == "hello you"
        code = "r = run('hi')"
        assert (await runtime.tool("python", {"code": code})).text == "hello you"


async def test_a_long_output_is_cut_and_kept_whole_as_an_artifact(plain_python: str, tmp_path: Path) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, "seq 1 100000")
    found = details(result)
    assert found.truncation is not None
    assert found.truncation.total_lines == 100_000
    assert result.text.endswith("Read artifact://1 for full output]")
    assert found.full_output_path is not None
    assert Path(found.full_output_path).name == "1.bash.log"
    kept = await anyio.Path(found.full_output_path).read_text(encoding="utf-8")
    assert kept == "".join(f"{n}\n" for n in range(1, 100_001))


async def test_a_timeout_ends_the_command_and_all_it_started(plain_python: str, tmp_path: Path) -> None:
    command = "setsid sleep 300 & a=$!; sleep 301 & echo pids $$ $a $!; wait; sleep 302"
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, command, timeout=3)
        assert alive(pids_in(result.text)) == []
    assert result.text.endswith("Command timed out after 3 seconds\nCommand exited with code 124")
    found = details(result)
    assert (found.outcome, found.cancelled, found.cells[0].exit_code) == ("timeout", True, 124)


async def test_a_command_that_ignores_interrupts_is_killed_after_the_grace(plain_python: str, tmp_path: Path) -> None:
    deaf = "trap '' INT TERM HUP; echo pids $$; while :; do sleep 1; done"
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, deaf, timeout=3)
        assert alive(pids_in(result.text)) == []
    assert "It did not stop within 2 seconds of being interrupted, and was killed." in result.text


async def test_a_command_may_clean_up_when_it_is_interrupted(plain_python: str, tmp_path: Path) -> None:
    abort, watcher = anyio.Event(), Watcher()
    results: list[ToolResult] = []
    command = "trap 'echo cleaned up; exit 9' INT; echo begun; sleep 300 & wait"
    async with runtime_at(tmp_path, plain_python) as runtime, anyio.create_task_group() as group:

        async def work() -> None:
            results.append(await bash(runtime, command, context=CallContext(abort=abort, on_update=watcher)))

        group.start_soon(work)
        update = await watcher.prints("begun")
        assert update.cells[0].status == "running"
        abort.set()
    (result,) = results
    assert result.text == "begun\ncleaned up\n\nCommand was interrupted\nCommand exited with code 130"
    assert (details(result).outcome, watcher.updates[-1].cells[0].status) == ("interrupted", "error")


async def test_an_abort_before_the_command_begins_runs_nothing(plain_python: str, tmp_path: Path) -> None:
    abort = anyio.Event()
    abort.set()
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, "touch ran", context=CallContext(abort=abort))
    assert details(result).outcome == "aborted"
    assert "Nothing was run" in result.text
    assert not (tmp_path / "ran").exists()


async def test_a_cancelled_task_goes_on_cancelling_when_nothing_is_left(plain_python: str, tmp_path: Path) -> None:
    watcher = Watcher()
    async with runtime_at(tmp_path, plain_python) as runtime:
        async with anyio.create_task_group() as group:

            async def work() -> None:
                await bash(runtime, "echo pids $$; sleep 300", context=CallContext(on_update=watcher))

            group.start_soon(work)
            update = await watcher.prints("pids")
            group.cancel_scope.cancel()
        assert alive(pids_in(update.tail)) == []
        assert (await bash(runtime, "echo on")).text == "on"


async def test_a_task_that_is_cancelled_twice_leaves_no_command_either(plain_python: str, tmp_path: Path) -> None:
    watcher = Watcher()
    # A shell heeds a trap when the command that it waits for has ended: one that begins just then must be short.
    stubborn = "trap 'touch heard' INT; echo pids $$; while :; do sleep 0.05; done"
    async with runtime_at(tmp_path, plain_python) as runtime:
        task = asyncio.create_task(bash(runtime, stubborn, context=CallContext(on_update=watcher)))
        pids = pids_in((await watcher.prints("pids")).tail)
        task.cancel()
        await eventually((tmp_path / "heard").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: alive(pids) == [])


async def test_what_a_command_leaves_is_named_and_ends_with_the_runtime(plain_python: str, tmp_path: Path) -> None:
    writer = "while [ ! -e go ]; do sleep 0.01; done; seq 1 100000; touch written; exec sleep 300"
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await bash(runtime, f"sh -c '{writer}' & echo pids $!")
        (pid,) = pids_in(result.text)
        assert result.text.startswith(f"pids {pid}\n\nStill running: sh -c while [ ! -e go ]")
        assert result.text.endswith(f" (pid {pid}). It ends with this runtime.")
        assert not result.is_error
        # It writes more than a pipe holds, and is not held up, and nobody sees it.
        (tmp_path / "go").touch()
        await eventually((tmp_path / "written").exists, within=PATIENCE)
        assert (await bash(runtime, "echo next")).text == "next"
        assert alive([pid]) == [pid]
    assert alive([pid]) == []


async def test_what_the_shell_did_not_wait_for_may_still_say_its_last_words(plain_python: str, tmp_path: Path) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        # It has a moment for it, which on a busy machine may pass before it has been run at all.
        assert "Hi" in [(await bash(runtime, "echo hi > >(tr h H)")).text for _ in range(5)]


async def test_commands_run_side_by_side(plain_python: str, tmp_path: Path) -> None:
    results: list[str] = []
    async with runtime_at(tmp_path, plain_python) as runtime, anyio.create_task_group() as group:

        async def meet(own: str, other: str) -> None:
            command = f"touch {own}; while [ ! -e {other} ]; do sleep 0.01; done; echo {own}"
            results.append((await bash(runtime, command)).text)

        group.start_soon(meet, "a", "b")
        group.start_soon(meet, "b", "a")
    assert sorted(results) == ["a", "b"]


async def test_more_commands_than_may_run_at_once_wait_for_their_turn(
    plain_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bash_commands, "_AT_ONCE", 2)
    results: list[ToolResult] = []
    async with runtime_at(tmp_path, plain_python) as runtime, anyio.create_task_group() as group:

        async def take_part(command: str, seconds: float) -> None:
            results.append(await bash(runtime, command, timeout=seconds))

        for _ in range(2):
            group.start_soon(take_part, "touch $$.begun; while [ ! -e free ]; do sleep 0.01; done", 60)
        await eventually(lambda: len(list(tmp_path.glob("*.begun"))) == 2)
        await take_part("touch never", 1)
        group.start_soon(take_part, "touch at-last", 60)
        (tmp_path / "free").touch()
    assert [details(result).outcome for result in results] == ["timeout", "ok", "ok", "ok"]
    assert "Nothing was run: the command had not begun." in results[0].text
    assert (tmp_path / "at-last").exists()
    assert not (tmp_path / "never").exists()


async def test_leaving_the_runtime_stops_a_command_that_runs(plain_python: str, tmp_path: Path) -> None:
    watcher = Watcher()
    results: list[ToolResult] = []
    async with anyio.create_task_group() as group, runtime_at(tmp_path, plain_python) as runtime:

        async def work() -> None:
            context = CallContext(on_update=watcher)
            results.append(await bash(runtime, "echo pids $$; sleep 300", context=context))

        group.start_soon(work)
        await watcher.prints("pids")
    assert details(results[0]).outcome == "interrupted"
    assert alive(pids_in(results[0].text)) == []


async def test_a_command_of_any_length_is_run(plain_python: str, tmp_path: Path) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        for _ in range(2):  # The second has a process that was waiting for it.
            result = await bash(runtime, "# filler\n" * 60_000 + "echo end")
            assert result.text == "end"


async def test_a_folder_that_is_gone_is_an_error_and_runs_nothing(plain_python: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with runtime_at(folder, plain_python) as runtime:
        os.rename(folder, tmp_path / "moved")
        result = await bash(runtime, "touch ran")
    assert result.is_error
    assert "Working directory does not exist" in result.text


async def test_the_library_runs_commands_too(plain_python: str, tmp_path: Path) -> None:
    async with runtime_at(tmp_path, plain_python) as runtime:
        result = await runtime.bash("echo $X; pwd", env={"X": "1"}, cwd="/", timeout=20)
    assert result.text == "1\n/"
