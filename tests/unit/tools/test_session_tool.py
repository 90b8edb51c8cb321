"""The `session` tool: what it takes, what there is, and what it does to a running call."""

import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from pisces.errors import InvalidCall
from pisces.journal.entries import SessionClosed
from pisces.journal.reader import read_journal
from pisces.kernels.base import Outlook, Revival
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from pisces.tools.session_params import TAKEN
from tests.fakes.drive import PATIENCE, plain_environment
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import begin, call, details, pool_of, scripted_runtime


async def ask(runtime: Runtime, action: str, *, owner: str = "runtime", **params: Any) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        return await runtime.tool("session", {"action": action, **params}, context=CallContext(owner=owner))


def told(result: ToolResult) -> SessionDetails:
    assert isinstance(result.details, SessionDetails), result.text
    return result.details


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "missing required field `action`"),
        ({"action": "lst"}, "Wrong value for `action`: Expected one of `list`, `checkpoint`, `restore`"),
        ({"action": "list", "sesion": "x"}, "Unknown parameter `sesion`. Did you mean `session`?"),
        ({"action": "list", "session": "x"}, "`session` does not belong to the action `list`, which takes: nothing"),
        (
            {"action": "wait", "job": "job-1", "id": 3},
            "`id` does not belong to the action `wait`, which takes: job, tim",
        ),
        ({"action": "wait"}, "`job` is missing: the action `wait` takes job, timeout"),
        ({"action": "checkpoint"}, "`name` is missing"),
        (
            {"action": "checkpoint", "name": "a\nb"},
            "`name`: a name that can be shown on one line is needed, got 'a\\nb'",
        ),
        ({"action": "branch", "to": "\x1b[2J"}, "`to`: a name that can be shown on one line is needed"),
        ({"action": "undo", "steps": 0}, "Wrong value for `steps`: Expected `int` >= 1, got 0"),
        ({"action": "output"}, "Give either `id`"),
        ({"action": "output", "id": "1", "job": "job-1"}, "Give either `id`"),
        ({"action": "output", "id": "1", "lines": "a"}, "Not a range of lines: 'a'"),
        ({"action": "variables", "timeout": float("nan")}, "got NaN"),
    ],
    ids=lambda value: str(value)[:50] if isinstance(value, dict) else "",
)
async def test_wrong_parameters_are_refused_with_what_belongs_there(
    tmp_path: Path, params: dict[str, Any], message: str
) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        result = await runtime.tool("session", params)
        with pytest.raises(InvalidCall):
            await runtime.session(**{"action": "", **params})
    assert (result.is_error, result.details) == (True, None)
    assert message in result.text


@pytest.mark.parametrize("action", [action for action, taken in TAKEN.items() if "session" in taken])
async def test_no_action_makes_a_session_that_is_not_there(tmp_path: Path, action: str) -> None:
    backend = MemoryBackend(remembering)
    needed = {"checkpoint": {"name": "n"}, "export": {"path": "n.ipynb"}}.get(action, {})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x = 1", session="here")
        result = await ask(runtime, action, session="elsewhere", **needed)
        assert len(pool_of(runtime).sessions) == 1
    assert result.is_error
    assert "There is no session 'elsewhere'. Sessions: here" in result.text
    assert len(backend.kernels) == 1


@pytest.mark.parametrize(("action", "params"), [("wait", {}), ("cancel", {}), ("output", {})])
async def test_a_job_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, action: str, params: dict[str, Any]
) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        nothing = await ask(runtime, action, job="job-7", **params)
        await call(runtime, "x = 1", background=True)
        result = await ask(runtime, action, job="job-7", **params)
    assert "There is no job 'job-7'. Jobs: none" in nothing.text
    assert "There is no job 'job-7'. Jobs: job-1" in result.text


def written_in(journal: str) -> str:
    return Path(journal).read_text(encoding="utf-8")


async def test_list_shows_what_each_session_is_and_does(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime:
        empty = await ask(runtime, "list")
        await call(runtime, ["x = 1", "y = 2"], session="b")
        await ask(runtime, "checkpoint", session="b", name="clean")
        await call(runtime, "wait", session="a", background=True)
        await anyio.wait_all_tasks_blocked()
        kernel = backend.kernels[0]
        assert isinstance(kernel, CheckpointingMemoryKernel)
        kernel.prospect = Outlook(resident_mb=85.25)
        result = await ask(runtime, "list")
        await ask(runtime, "cancel", job="job-1")
    assert empty.text == "There are no sessions: the python tool makes one."
    first, second = told(result).sessions
    assert (first.id, first.busy, first.phase, first.jobs, first.cells) == ("a", True, "executing", ("job-1",), 0)
    assert (second.id, second.busy, second.phase, second.jobs, second.cells) == ("b", False, "ready", (), 2)
    assert (second.generation, second.automatic_checkpoints, second.memory_mb) == (1, 2, 85.2)
    assert [(checkpoint.name, checkpoint.cells) for checkpoint in second.checkpoints] == [("clean", 2)]
    assert "x = 1" in written_in(second.journal)
    line_a, line_b = result.text.splitlines()
    assert line_a.startswith("a: busy for 0.")
    assert " s; 0 cells; generation 1; " in line_a
    assert "jobs: job-1" in line_a
    assert "named: 'clean' after 2 cells; 85.2 MB" in line_b
    assert str(tmp_path) in line_b


async def test_interrupt_stops_the_running_call_as_its_caller_could(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, "wait")
        await running.watcher.prints("waiting")
        result = await ask(runtime, "interrupt")
        stopped = await running.finish()
        after = await ask(runtime, "interrupt")
    assert "The running call in session 'default' is being stopped" in result.text
    assert details(stopped).outcome == "interrupted"
    assert after.text == "Nothing runs in session 'default'."


async def test_close_ends_a_session_and_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pisces.sessions.session._CLOSE_WAIT", 0.1)
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1", session="other")
        await call(runtime, "wait", background=True)
        result = await ask(runtime, "close")
        left = told(await ask(runtime, "list")).sessions
        waited = await ask(runtime, "wait", job="job-1")
    assert result.text.endswith("its checkpoints are gone. job-1 was ended with it.")
    assert [session.id for session in left] == ["other"]
    assert told(waited).job is not None
    assert details(msgspec.structs.replace(waited, details=told(waited).result)).outcome == "interrupted"


async def test_others_who_held_a_closed_session_are_told(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        for owner in ("one", "two"):
            await call(runtime, "x = 1", owner=owner)
        await ask(runtime, "close", owner="one")
        first, second = await call(runtime, "x", owner="one"), await call(runtime, "x", owner="two")
    assert first.text == "unknown"
    assert second.text.startswith("[State: lost] Somebody who shared the session closed it.")


async def test_who_closed_a_session_does_not_read_in_its_journal_that_somebody_else_did(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1")
        (session,) = told(await ask(runtime, "list")).sessions
        await ask(runtime, "close")
    last = read_journal(Path(session.journal)).entries[-1]
    assert isinstance(last, SessionClosed)
    assert last.why == ""


async def test_an_owner_with_a_session_of_its_own_means_that_one(tmp_path: Path) -> None:
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1", owner="one")
        await call(runtime, "x = 2", owner="two")
        await call(runtime, "x = 3", owner="two", reset=True)
        await ask(runtime, "close", owner="two")
        assert (await call(runtime, "x", owner="one")).text == "2"


async def test_two_sessions_of_one_name_are_told_apart_by_their_interpreter(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    async with scripted_runtime(remembering, tmp_path) as runtime:
        await call(runtime, "x = 1")
        await call(runtime, "x = 2", kernel=str(other))
        interpreters = [session.interpreter for session in told(await ask(runtime, "list")).sessions]
        unclear = await ask(runtime, "close")
        clear = await ask(runtime, "close", kernel=interpreters[1])
        left = told(await ask(runtime, "list")).sessions
    assert "There are 2 sessions 'default', with the interpreters" in unclear.text
    assert not clear.is_error
    assert [session.interpreter for session in left] == interpreters[:1]


@pytest.mark.parametrize("named", ["other-python", "bin/other-python", "~/bin/other-python"])
async def test_a_session_is_found_by_whatever_leads_to_its_interpreter(tmp_path: Path, named: str) -> None:
    other = tmp_path / "bin" / "other-python"
    other.parent.mkdir()
    other.symlink_to(sys.executable)
    environ = plain_environment(PATH=str(other.parent), HOME=str(tmp_path), PI_PYTHON_SKIP_CHECK="1")
    settings = {"python": {"interpreter": sys.executable}}
    backend = MemoryBackend(remembering)
    async with Runtime(cwd=tmp_path, settings=settings, environ=environ, backend=backend) as runtime:
        await call(runtime, "x = 1")
        await call(runtime, "x = 2", kernel=str(other))
        closed = await ask(runtime, "close", kernel=named)
        left = told(await ask(runtime, "list")).sessions
    assert not closed.is_error, closed.text
    assert str(other) not in [session.interpreter for session in left]
    assert len(left) == 1


async def test_the_tools_fit_into_a_small_part_of_a_context(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        tools = [
            {"name": tool.name, "description": tool.description, "schema": tool.schema}
            for tool in runtime.tools.values()
        ]
    assert len(msgspec.json.encode(tools)) < 10_000
