"""Calls that go on without their caller: what the caller gets, what the job becomes, and what ends it."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.errors import InvalidCall
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Hang, Script, WaitFor, WaitForInterrupt
from pisces.model.events import Result, Stream
from pisces.model.results import JobInfo, ToolResult
from pisces.runtime import Runtime
from pisces.sessions.jobs import Job, Jobs
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import begin, call, details, pool_of, scripted_runtime


def say(text: str) -> Stream:
    return Stream("stdout", text + "\n")


def jobs_of(runtime: Runtime) -> Jobs:
    assert runtime._services is not None
    return runtime._services.jobs


def job_of(result: ToolResult) -> JobInfo:
    job = details(result).job
    assert job is not None, result.text
    return job


async def ended(runtime: Runtime, job_id: str) -> ToolResult:
    """The result of a job, once it has ended."""
    job: Job = jobs_of(runtime).get(job_id)
    with anyio.fail_after(PATIENCE):
        await job.ended.wait()
    assert job.result is not None
    return job.result


async def test_a_background_call_comes_back_at_once_and_its_job_goes_on(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"slow": [say("begun"), WaitFor(go), Result({"text/plain": "42"})]}
    async with scripted_runtime(script, tmp_path) as runtime:
        result = await call(runtime, "slow", background=True)
        started = job_of(result)
        go.set()
        final = await ended(runtime, "job-1")
    assert (started.id, started.state, started.session, started.outcome) == ("job-1", "running", "default", None)
    assert (started.title, started.cells) == ("slow", 1)
    assert (result.is_error, details(result).outcome) == (False, "ok")
    assert "job-1 is running in the background of session 'default', for at most 600 seconds" in result.text
    assert (final.text, details(final).outcome) == ("begun\n42", "ok")


async def test_a_call_right_after_a_background_call_waits_for_its_turn(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"slow": [WaitFor(go)], "next": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "slow", background=True)
        second = begin(group, runtime, "next")
        await anyio.wait_all_tasks_blocked()
        assert [request.code for request in backend.kernels[0].requests] == ["slow"]
        go.set()
        assert details(await second.finish()).outcome == "ok"
    assert [request.code for request in backend.kernels[0].requests] == ["slow", "next"]


async def test_a_call_that_waits_in_vain_says_which_job_it_waited_for(tmp_path: Path) -> None:
    async with scripted_runtime({"slow": [WaitForInterrupt()], "next": []}, tmp_path) as runtime:
        await call(runtime, "slow", background=True)
        result = await call(runtime, "next", timeout=1)
        jobs_of(runtime).get("job-1").subject.stop.ask()
    assert details(result).outcome == "timeout"
    assert "Nothing was run" in result.text
    assert "The session is busy with job-1, which has been running for" in result.text


async def test_a_finished_job_is_announced_once_with_the_next_call(tmp_path: Path) -> None:
    async with scripted_runtime({"quick": [], "next": []}, tmp_path) as runtime:
        await call(runtime, "quick", background=True)
        await ended(runtime, "job-1")
        elsewhere = await call(runtime, "next", session="other")
        first, second = await call(runtime, "next"), await call(runtime, "next")
    assert "job-1" not in elsewhere.text
    (notice,) = details(first).notices
    assert notice.startswith("job-1 has finished (ok, after 0.")
    assert details(second).notices == []


@pytest.mark.parametrize(
    ("asked", "given"), [({}, 600), ({"timeout": 5}, 5), ({"timeout": 10_000}, 600)], ids=["none", "short", "long"]
)
async def test_a_background_call_has_the_longest_time_unless_it_asks_for_less(
    tmp_path: Path, asked: dict[str, Any], given: int
) -> None:
    async with scripted_runtime({"quick": []}, tmp_path) as runtime:
        result = await call(runtime, "quick", background=True, **asked)
    assert f"for at most {given} seconds" in result.text


async def test_the_deadline_of_a_job_ends_it(tmp_path: Path) -> None:
    async with scripted_runtime({"slow": [say("begun"), WaitForInterrupt()]}, tmp_path) as runtime:
        await call(runtime, "slow", background=True, timeout=1)
        final = await ended(runtime, "job-1")
    assert details(final).outcome == "timeout"
    assert "Command timed out after 1 seconds" in final.text


async def test_a_call_that_takes_long_becomes_a_job_by_itself(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"slow": [say("begun"), WaitFor(go), say("done")], "quick": [say("quick")]}
    async with scripted_runtime(script, tmp_path, auto_background_ms=1000) as runtime:
        quick = await call(runtime, "quick")
        slow = await call(runtime, "slow")
        go.set()
        final = await ended(runtime, job_of(slow).id)
    assert (quick.text, details(quick).job) == ("quick", None)
    assert slow.text.startswith("begun\n\njob-1 is running")
    assert [record.status for record in details(slow).cells] == ["running"]
    assert final.text == "begun\ndone"


async def test_a_caller_that_stays_is_not_sent_away(tmp_path: Path) -> None:
    from pisces.tools.base import CallContext

    script: Script = {"slow": [WaitForInterrupt()]}
    async with scripted_runtime(script, tmp_path, auto_background_ms=10) as runtime:
        context = CallContext(lasting=False)
        result = await runtime.tool("python", {"code": "slow", "timeout": 1}, context=context)
    assert details(result).outcome == "timeout"


async def test_the_abort_of_a_caller_that_still_waits_stops_the_call(tmp_path: Path) -> None:
    abort = anyio.Event()
    script: Script = {"slow": [say("begun"), WaitForInterrupt()]}
    async with (
        scripted_runtime(script, tmp_path, auto_background_ms=20_000) as runtime,
        anyio.create_task_group() as group,
    ):
        started = begin(group, runtime, "slow", abort=abort)
        await started.watcher.prints("begun")
        abort.set()
        result = await started.finish()
    assert (details(result).outcome, details(result).job) == ("interrupted", None)


async def test_an_abort_does_not_become_a_job_while_the_cell_settles(tmp_path: Path) -> None:
    abort = anyio.Event()
    script: Script = {"deaf": [say("begun"), Hang()]}
    async with (
        scripted_runtime(script, tmp_path, auto_background_ms=1000, interrupt_grace=3) as runtime,
        anyio.create_task_group() as group,
    ):
        started = begin(group, runtime, "deaf", abort=abort)
        await started.watcher.prints("begun")
        abort.set()
        result = await started.finish()
    assert (details(result).outcome, details(result).job) == ("interrupted", None)


async def test_cancelling_a_caller_that_still_waits_settles_the_cell(tmp_path: Path) -> None:
    backend = MemoryBackend({"slow": [say("begun"), WaitForInterrupt()], "next": []})
    async with (
        scripted_runtime(backend, tmp_path, auto_background_ms=20_000) as runtime,
        anyio.create_task_group() as group,
    ):
        started = begin(group, runtime, "slow")
        await started.watcher.prints("begun")
        started.scope.cancel()
        await started.ended.wait()
        assert started.scope.cancelled_caught
        assert backend.kernels[0].interrupts == 1
        assert jobs_of(runtime).listed() == []
        assert details(await call(runtime, "next")).outcome == "ok"


async def test_neither_abort_nor_listener_of_a_caller_that_left_reaches_the_job(tmp_path: Path) -> None:
    go, abort = anyio.Event(), anyio.Event()
    heard: list[object] = []

    async def stuck(update: object) -> None:
        heard.append(update)
        await anyio.sleep_forever()

    script: Script = {"slow": [say("begun"), WaitFor(go), say("done")]}
    async with scripted_runtime(script, tmp_path, auto_background_ms=500) as runtime:
        result = await call(runtime, "slow", on_update=stuck, on_output=stuck, abort=abort)
        known = len(heard)
        abort.set()
        go.set()
        final = await ended(runtime, job_of(result).id)
    assert (final.text, details(final).outcome) == ("begun\ndone", "ok")
    assert len(heard) == known


async def test_an_error_of_a_listener_that_still_listens_reaches_the_caller(tmp_path: Path) -> None:
    def fail(update: object) -> None:
        raise ZeroDivisionError

    async with scripted_runtime({"slow": [WaitForInterrupt()]}, tmp_path, auto_background_ms=20_000) as runtime:
        with pytest.raises(ZeroDivisionError):
            await call(runtime, "slow", on_update=fail)


async def test_an_owner_that_leaves_does_not_end_its_job_and_the_session_ends_after_it(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"slow": [WaitFor(go), say("done")]}
    async with scripted_runtime(script, tmp_path) as runtime:
        await call(runtime, "slow", background=True, owner="client")
        await runtime.leave("client")
        assert len(pool_of(runtime).sessions) == 1
        go.set()
        final = await ended(runtime, "job-1")
        await anyio.wait_all_tasks_blocked()
        assert pool_of(runtime).sessions == []
    assert details(final).outcome == "ok"


async def test_the_end_of_the_session_ends_its_jobs(tmp_path: Path) -> None:
    script: Script = {"slow": [WaitForInterrupt()], "next": []}
    async with scripted_runtime(script, tmp_path) as runtime:
        await call(runtime, "slow", background=True)
        await call(runtime, "next", background=True)
        (session,) = pool_of(runtime).sessions
        await session.close(wait=0)
        running, waiting = await ended(runtime, "job-1"), await ended(runtime, "job-2")
    assert details(running).outcome == "interrupted"
    assert waiting.text.startswith("Error: Session 'default' has been closed")


async def test_the_end_of_the_runtime_ends_every_job(tmp_path: Path) -> None:
    backend = MemoryBackend({"slow": [say("begun"), WaitForInterrupt()]})
    async with scripted_runtime(backend, tmp_path) as runtime:
        for name in ("a", "b"):
            await call(runtime, "slow", background=True, session=name)
        jobs = jobs_of(runtime).listed()
    assert [job.running for job in jobs] == [False, False]
    assert [details(job.result).outcome for job in jobs if job.result] == ["interrupted", "interrupted"]


async def test_per_call_mode_gives_a_job_a_kernel_of_its_own(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"slow": [WaitFor(go), say("done")], "next": []})
    async with scripted_runtime(backend, tmp_path, kernel_mode="per-call") as runtime:
        started = await call(runtime, "slow", background=True)
        assert details(await call(runtime, "next")).notices == []
        go.set()
        final = await ended(runtime, job_of(started).id)
        after = await call(runtime, "next")
        assert pool_of(runtime).sessions == []
    assert final.text == "done"
    assert "job-1 has finished" in after.text


async def test_a_job_whose_kernel_does_not_start_says_so(tmp_path: Path) -> None:
    from pisces.errors import KernelStartError

    async def fail() -> None:
        raise KernelStartError("no such interpreter", hint="Install one.")

    async with scripted_runtime(MemoryBackend({}, on_start=fail), tmp_path) as runtime:
        await call(runtime, "x", background=True)
        final = await ended(runtime, "job-1")
        info = jobs_of(runtime).get("job-1").info()
    assert final.text == "Error: no such interpreter\nInstall one."
    assert (info.state, info.outcome) == ("finished", "error")


async def test_the_oldest_finished_jobs_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pisces.sessions.jobs.KEPT_JOBS", 2)
    async with scripted_runtime({"quick": []}, tmp_path) as runtime:
        for number in range(1, 5):
            await call(runtime, "quick", background=True)
            await ended(runtime, f"job-{number}")
        await anyio.wait_all_tasks_blocked()
        assert [job.id for job in jobs_of(runtime).listed()] == ["job-3", "job-4"]


async def test_results_that_hold_much_are_forgotten_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pisces.sessions.jobs.KEPT_BYTES", 3000)
    async with scripted_runtime({"long": [say("x" * 2000)]}, tmp_path) as runtime:
        for number in (1, 2):
            await call(runtime, "long", background=True)
            await ended(runtime, f"job-{number}")
        await anyio.wait_all_tasks_blocked()
        assert [job.id for job in jobs_of(runtime).listed()] == ["job-2"]


def test_the_one_off_refuses_what_would_end_with_it() -> None:
    from pisces import run

    with pytest.raises(InvalidCall, match="a runtime that stays"):
        run("1", background=True)


async def test_a_runtime_that_is_cancelled_ends_its_jobs(tmp_path: Path) -> None:
    backend = MemoryBackend({"slow": [say("begun"), WaitForInterrupt()]})
    with anyio.CancelScope() as scope:
        async with scripted_runtime(backend, tmp_path) as runtime:
            await call(runtime, "slow", background=True)
            await anyio.wait_all_tasks_blocked()
            (job,) = jobs_of(runtime).listed()
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert backend.kernels[0].interrupts == 1
    assert job.result is not None
    assert job.result.text == "Error: The runtime was closed before the job had ended"


async def test_an_error_in_the_block_comes_out_as_it_is_while_a_job_runs(tmp_path: Path) -> None:
    async def fail_beside_a_job() -> None:
        async with scripted_runtime({"slow": [WaitForInterrupt()]}, tmp_path) as runtime:
            await call(runtime, "slow", background=True)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_beside_a_job()


async def test_a_fault_of_ours_in_a_job_is_logged_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    go = anyio.Event()

    async def fail(*_arguments: object) -> ToolResult:
        await go.wait()
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("pisces.tools.python_call.cells_result", fail)
    async with scripted_runtime({"quick": []}, tmp_path) as runtime:
        await call(runtime, "quick", background=True)
        go.set()
        final = await ended(runtime, "job-1")
        assert (await runtime.session("list")).is_error is False
    assert "ZeroDivisionError('a fault')" in final.text
    assert "job-1 ended by an error" in caplog.text
