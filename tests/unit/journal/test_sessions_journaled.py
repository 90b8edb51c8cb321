"""What happens in a session is in its journal, and the notebook of it has what the present state came from."""

import os
import time
from pathlib import Path
from typing import Any

import anyio
import nbformat
import pytest

from pisces.journal.entries import AnyEntry, CellBegan, CellEnded, Output, SessionBegan, SessionClosed, StateChanged
from pisces.journal.export import notebook
from pisces.journal.folder import journal_path, list_journals, prune_journals
from pisces.journal.reader import read_journal, read_with_origins
from pisces.kernels.memory_script import Script, WaitForInterrupt
from pisces.model.events import ProcessExit, Restore, Stream
from pisces.runtime import Runtime
from pisces.sessions.session import Session
from tests.fakes.assignments import COSTLY, CRASH, keeping_runtime, kernel_in, session_of, soon
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import begin, call, details, pool_of, scripted_runtime


def journal_of(session: Session) -> tuple[AnyEntry, ...]:
    assert session.journal.path is not None
    return read_with_origins(session.journal.path).entries


def cells_of(session: Session) -> list[dict[str, Any]]:
    """The cells of the notebook of now, which is valid."""
    made = notebook(journal_of(session))
    nbformat.validate(made, version=4, version_minor=5)
    cells: list[dict[str, Any]] = made["cells"]
    return cells


def sources(session: Session) -> list[str]:
    return [cell["source"] for cell in cells_of(session)]


def only(entries: tuple[AnyEntry, ...], kind: type[AnyEntry]) -> list[Any]:
    return [entry for entry in entries if isinstance(entry, kind)]


async def test_every_call_is_written_down_with_its_cells_and_their_ends(tmp_path: Path) -> None:
    script = {"a": [Stream("stdout", "x"), Stream("stdout", "y")], "b": []}
    async with scripted_runtime(script, tmp_path) as runtime:
        await call(runtime, ["a", "b"])
        await call(runtime, "a")
        entries = journal_of(session_of(runtime))
    began = only(entries, SessionBegan)[0]
    assert (began.session, began.cwd, began.backend) == ("default", str(tmp_path), "memory")
    assert [(entry.call, entry.index, entry.code) for entry in only(entries, CellBegan)] == [
        (1, 0, "a"), (1, 1, "b"), (2, 0, "a"),
    ]  # fmt: skip
    assert [entry.event for entry in only(entries, Output)] == [Stream("stdout", "xy")] * 2
    assert [(entry.outcome, entry.position) for entry in only(entries, CellEnded)] == [("ok", 1), ("ok", 2), ("ok", 3)]


async def test_the_end_of_a_session_is_written_down_and_listed(tmp_path: Path) -> None:
    async with scripted_runtime({"a": []}, tmp_path) as runtime:
        await call(runtime, "a")
        path = session_of(runtime).journal.path
        (running,) = list_journals(runtime.paths.journals)
    (ended,) = list_journals(runtime.paths.journals)
    assert path is not None
    assert (running.session, running.cells, running.ended) == ("default", 1, None)
    assert (ended.path, ended.cells) == (path, 1)
    assert isinstance(read_journal(path).entries[-1], SessionClosed)


async def test_kernels_hear_where_the_journal_is(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        assert session.launch_spec().injected["PI_SESSION_FILE"] == str(session.journal.path)
        branch = await pool_of(runtime).branch(session, "b", "runtime", soon())
        assert branch.launch_spec().injected["PI_SESSION_FILE"] == str(branch.journal.path)
        assert branch.journal.path != session.journal.path


async def test_a_crash_is_written_down_with_what_came_back(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel_in(session_of(runtime)).prospect = COSTLY
        await call(runtime, "a = 2")
        await call(runtime, CRASH)
        entries = journal_of(session_of(runtime))
        cells = cells_of(session_of(runtime))
    crashed = only(entries, CellEnded)[-1]
    assert (crashed.outcome, crashed.died, crashed.position) == ("crashed", True, 2)
    assert isinstance(crashed.process_exit, ProcessExit)
    (news,) = only(entries, StateChanged)
    assert (news.state, news.position, news.restore) == ("restored", 1, Restore("exact", 1))
    assert [(cell["source"], cell["metadata"]["pisces"].get("lost", False)) for cell in cells] == [
        ("a = 1", False), ("a = 2", True), (CRASH, False),
    ]  # fmt: skip
    assert cells[2]["metadata"]["tags"] == ["raises-exception", "skip-execution"]


async def test_cells_that_were_taken_back_are_not_in_the_notebook(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, checkpoint="always") as runtime:
        for code in ("a = 1", "b = 2"):
            await call(runtime, code)
        session = session_of(runtime)
        await session.checkpoint("two", soon())
        await call(runtime, "c = 3")
        await session.undo(soon(), steps=2)
        assert sources(session) == ["a = 1"]
        await session.undo(soon())
        assert sources(session) == []
        await session.restore_to("two", soon())
        assert sources(session) == ["a = 1", "b = 2"]
        await call(runtime, "d = 4")
        assert sources(session) == ["a = 1", "b = 2", "d = 4"]
        await call(runtime, "e = 5", reset=True)
        assert sources(session) == ["e = 5"]
        await session.undo(soon(), steps=2)
        assert sources(session) == ["a = 1", "b = 2", "d = 4"]


async def test_the_notebook_of_a_branch_begins_with_the_cells_of_its_origin(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        origin = session_of(runtime)
        branch = await pool_of(runtime).branch(origin, "b", "runtime", soon())
        assert sources(branch) == ["a = 1"]
        await call(runtime, "b = 2")
        await call(runtime, "c = 3", session="b")
        assert (sources(origin), sources(branch)) == (["a = 1", "b = 2"], ["a = 1", "c = 3"])


async def test_output_of_a_cell_that_runs_can_be_read_already(tmp_path: Path) -> None:
    script: Script = {"long": [Stream("stdout", "begun"), WaitForInterrupt()]}
    async with scripted_runtime(script, tmp_path) as runtime, anyio.create_task_group() as group:
        abort = anyio.Event()
        started = begin(group, runtime, "long", abort=abort)
        await started.watcher.prints("begun")
        session = session_of(runtime)
        await eventually(lambda: bool(cells_of(session)[0]["outputs"]), within=PATIENCE)
        assert cells_of(session)[0]["metadata"]["pisces"]["outcome"] == "unfinished"
        abort.set()
        await started.finish()
        assert only(journal_of(session), CellEnded)[0].outcome == "interrupted"


async def test_a_call_that_is_cancelled_leaves_the_end_of_its_cell(tmp_path: Path) -> None:
    script: Script = {"long": [Stream("stdout", "begun"), WaitForInterrupt()]}
    async with scripted_runtime(script, tmp_path) as runtime, anyio.create_task_group() as group:
        started = begin(group, runtime, "long")
        await started.watcher.prints("begun")
        started.scope.cancel()
        with anyio.fail_after(PATIENCE):
            await started.ended.wait()
        ended = only(journal_of(session_of(runtime)), CellEnded)
    assert [entry.outcome for entry in ended] == ["interrupted"]


async def test_a_journal_that_cannot_be_written_is_told_once_and_stops_no_cell(tmp_path: Path) -> None:
    runtime = scripted_runtime({"a": []}, tmp_path)
    in_the_way(runtime)
    async with runtime:
        first, second = [await call(runtime, "a") for _ in range(2)]
    assert (details(first).outcome, details(second).outcome) == ("ok", "ok")
    assert "The journal of this session is incomplete: " in first.text
    assert "journal" not in second.text


def in_the_way(runtime: Runtime) -> None:
    runtime.paths.agent.mkdir(parents=True)
    runtime.paths.journals.write_text("not a folder", encoding="utf-8")


async def test_journals_that_were_kept_for_long_enough_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    runtime = scripted_runtime({}, tmp_path)
    older, newer = old_journals(runtime)
    with monkeypatch.context() as yesterday:
        yesterday.setattr("time.time", lambda: now - 1.1 * 86_400)
        prune_journals(runtime.paths.journals, 2)
    async with scripted_runtime({}, tmp_path, output={"keep_days": 2}):
        await eventually(lambda: not older.exists())
    assert newer.exists()


def old_journals(runtime: Runtime) -> list[Path]:
    """Two of them, last written three and a half and one and a half days ago."""
    made = []
    for days in (3.5, 1.5):
        path = journal_path(runtime.paths.journals, "s")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (time.time() - days * 86_400,) * 2)
        made.append(path)
    return made


@pytest.mark.parametrize("mode", ["session", "per-call"])
async def test_no_descriptor_of_a_journal_is_left(tmp_path: Path, mode: str, no_descriptor_is_left: None) -> None:
    async with scripted_runtime({"a": []}, tmp_path, kernel_mode=mode) as runtime:
        await call(runtime, "a")
        assert len(list_journals(runtime.paths.journals)) == 1
