"""The `session` tool on jobs: listing, waiting, reading while they run, cancelling."""

from pathlib import Path

import anyio

from pisces.kernels.memory_script import Hang, IgnoreInterrupt, Script, WaitFor, WaitForInterrupt
from pisces.model.events import Result, Stream
from pisces.model.results import Details, ToolResult, Update
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import begin, call, scripted_runtime
from tests.unit.tools.test_session_tool import ask, told


def say(text: str) -> Stream:
    return Stream("stdout", text + "\n")


def result_in(result: ToolResult) -> Details:
    """The details of the job's own result."""
    found = told(result).result
    assert isinstance(found, Details), result.text
    return found


async def test_jobs_are_listed_with_how_they_stand(tmp_path: Path) -> None:
    script: Script = {"wait": [WaitForInterrupt()], "quick": []}
    async with scripted_runtime(script, tmp_path) as runtime:
        none = await ask(runtime, "jobs")
        await call(runtime, "quick", background=True, session="a")
        await ask(runtime, "wait", job="job-1")
        await call(runtime, ["quick", "wait"], background=True, session="b")
        await anyio.wait_all_tasks_blocked()
        every, some = await ask(runtime, "jobs"), await ask(runtime, "jobs", session="b")
        await ask(runtime, "cancel", job="job-2")
    assert none.text == "There are no jobs."
    first, second = every.text.splitlines()
    assert first.startswith("job-1: ok after 0.")
    assert second.startswith("job-2: running for 0.")
    assert " s, cell 2 of 2, session b, began 20" in second
    assert second.endswith(": quick")
    assert some.text.startswith("job-2: ")
    assert [(job.id, job.state, job.outcome) for job in told(every).jobs] == [
        ("job-1", "finished", "ok"),
        ("job-2", "running", None),
    ]


async def test_wait_gives_the_result_of_the_job(tmp_path: Path) -> None:
    script: Script = {"value": [Result({"text/plain": "42"})], "bad": [say("so far")]}
    async with scripted_runtime(script, tmp_path) as runtime:
        await call(runtime, "value", background=True)
        good = await ask(runtime, "wait", job="job-1")
        again = await ask(runtime, "wait", job="job-1")
        await call(runtime, ["bad", "missing"], background=True)
        bad = await ask(runtime, "wait", job="job-2")
        silent = await call(runtime, "value")
    assert good.text.splitlines()[0].startswith("[job-1: ok after")
    assert good.text.splitlines()[1:] == again.text.splitlines()[1:] == ["42"]
    assert (good.is_error, result_in(good).outcome) == (False, "ok")
    assert (bad.is_error, told(bad).is_error, result_in(bad).outcome) == (True, True, "error")
    assert "Cell 2 failed" in bad.text
    assert silent.text == "42", "jobs that were asked about are not announced"


async def test_wait_comes_back_when_the_job_ends(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"wait": [say("begun"), WaitFor(go), say("done")]}
    async with scripted_runtime(script, tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "wait", background=True)
        results: list[ToolResult] = []

        async def wait() -> None:
            results.append(await ask(runtime, "wait", job="job-1"))

        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert results == []
        go.set()
    assert results[0].text.endswith("begun\ndone")


async def test_whoever_waits_for_a_job_hears_what_it_says(tmp_path: Path) -> None:
    go = anyio.Event()
    heard: list[Update] = []

    def hear(update: Update) -> None:
        heard.append(update)
        if update.tail == "begun\n":
            go.set()

    script: Script = {"wait": [say("begun"), WaitFor(go), say("done")]}
    async with scripted_runtime(script, tmp_path) as runtime:
        await call(runtime, "wait", background=True)
        with anyio.fail_after(PATIENCE):
            params = {"action": "wait", "job": "job-1"}
            result = await runtime.tool("session", params, context=CallContext(on_update=hear))
    assert result.text.endswith("begun\ndone")
    assert heard[-1].cells[0].code == "wait"


async def test_a_wait_that_ends_first_says_how_far_the_job_is(tmp_path: Path) -> None:
    async with scripted_runtime({"wait": [say("begun"), WaitForInterrupt()]}, tmp_path) as runtime:
        await call(runtime, "wait", background=True)
        await anyio.wait_all_tasks_blocked()
        result = await ask(runtime, "wait", job="job-1", timeout=0)
        aborted = anyio.Event()
        aborted.set()
        given_up = await runtime.tool("session", {"action": "wait", "job": "job-1"}, context=CallContext(abort=aborted))
        await ask(runtime, "cancel", job="job-1")
    for answer in (result, given_up):
        first, second = answer.text.splitlines()
        assert first.startswith("[Still running: job-1: running for")
        assert (second, answer.is_error) == ("begun", False)


async def test_cancel_stops_the_job_and_keeps_the_state(tmp_path: Path) -> None:
    async with scripted_runtime({"wait": [say("begun"), WaitForInterrupt()], "next": []}, tmp_path) as runtime:
        await call(runtime, "wait", background=True)
        await call(runtime, "next", background=True)
        waiting = await ask(runtime, "cancel", job="job-2")
        running = await ask(runtime, "cancel", job="job-1")
        again = await ask(runtime, "cancel", job="job-1")
        after = await call(runtime, "next")
    assert result_in(waiting).outcome == "aborted"
    assert result_in(running).outcome == result_in(again).outcome == "interrupted"
    assert "begun" in running.text
    assert after.text == "(no output)"


async def test_a_cancel_that_does_not_see_the_end_says_that_it_is_under_way(tmp_path: Path) -> None:
    script: Script = {"deaf": [say("begun"), IgnoreInterrupt(), Hang()]}
    async with scripted_runtime(script, tmp_path, interrupt_grace=3) as runtime:
        await call(runtime, "deaf", background=True)
        await anyio.wait_all_tasks_blocked()
        early = await ask(runtime, "cancel", job="job-1", timeout=1)
        late = await ask(runtime, "wait", job="job-1")
    assert early.text.startswith("[Being stopped: job-1: running for")
    assert result_in(late).outcome == "interrupted"


async def test_an_action_that_waits_for_a_job_in_vain_says_so(tmp_path: Path) -> None:
    from pisces.kernels.base import Revival
    from pisces.kernels.memory import MemoryBackend

    backend = MemoryBackend({"wait": [WaitForInterrupt()], "next": []}, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "next")
        await call(runtime, "wait", background=True)
        result = await ask(runtime, "undo", timeout=1)
        await ask(runtime, "cancel", job="job-1")
    assert result.is_error
    assert "The session is busy with job-1, which has been running for" in result.text


async def test_output_reads_a_job_while_it_runs(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"wait": [say("one\ntwo\nthree"), WaitFor(go), say("four")]}
    async with scripted_runtime(script, tmp_path) as runtime:
        await call(runtime, "wait", background=True)
        await anyio.wait_all_tasks_blocked()
        whole = await ask(runtime, "output", job="job-1")
        some = await ask(runtime, "output", job="job-1", lines="2-3")
        found = await ask(runtime, "output", job="job-1", search="^t")
        nothing = await ask(runtime, "output", job="job-1", search="five")
        beyond = await ask(runtime, "output", job="job-1", lines="9")
        refused = [await ask(runtime, "output", job="job-1", search=pattern) for pattern in ("(", "a{99999999999}")]
        go.set()
        await ask(runtime, "wait", job="job-1")
        ended = await ask(runtime, "output", job="job-1", lines="4-")
    assert whole.text.splitlines()[0].startswith("[job-1: running for")
    assert whole.text.splitlines()[1:] == ["one", "two", "three"]
    assert some.text.splitlines()[1:] == ["two", "three"]
    assert found.text.splitlines()[1:] == ["2:two", "3:three"]
    assert nothing.text.splitlines()[1:] == ["No line of job-1 matches 'five'."]
    assert beyond.text == "Error: job-1 has written 3 lines; line 9 is past its end."
    assert all(result.is_error and "Not a regular expression: " in result.text for result in refused)
    assert ended.text.splitlines()[1:] == ["four"]


async def test_output_finds_lines_that_a_running_job_no_longer_shows(tmp_path: Path) -> None:
    lines = "\n".join(f"line {number}" for number in range(1, 5001))
    async with scripted_runtime({"wait": [say(lines), WaitForInterrupt()]}, tmp_path) as runtime:
        await call(runtime, "wait", background=True)
        await anyio.wait_all_tasks_blocked()
        shown = await ask(runtime, "output", job="job-1")
        some = await ask(runtime, "output", job="job-1", lines="2400-2401")
        found = await ask(runtime, "output", job="job-1", search="^line 2500$")
        await ask(runtime, "cancel", job="job-1")
    assert "lines elided" in shown.text
    assert some.text.splitlines()[1:] == ["line 2400", "line 2401"]
    assert found.text.splitlines()[1:] == ["2500:line 2500"]


async def test_output_reads_an_artifact_in_parts_that_a_reader_can_hold(tmp_path: Path) -> None:
    lines = "\n".join(f"line {number}" for number in range(1, 5001))
    async with scripted_runtime({"long": [say(lines)]}, tmp_path, output={"max_bytes": 1024}) as runtime:
        cut = await call(runtime, "long")
        number = cut.details.artifact_id
        first = await ask(runtime, "output", id=number)
        some = await ask(runtime, "output", id=int(number), lines="4999-")
        address = await ask(runtime, "output", id=f"artifact://{number}:7")
        found = await ask(runtime, "output", id=number, search="line 49[0-9]{2}$")
        missing = await ask(runtime, "output", id="77")
        nonsense = await ask(runtime, "output", id="x")
    shown = first.text.splitlines()
    assert shown[0] == "line 1"
    last = int(shown[-2].removeprefix("line "))
    assert shown[-1] == f'[…1 KiB shown; go on with lines: "{last + 1}-"…]'
    assert len(first.text) < 1200
    assert some.text == "line 4999\nline 5000"
    assert address.text == "line 7"
    assert found.text.splitlines()[0] == "4900:line 4900"
    assert "more lines match: narrow the search" in found.text
    assert f"Artifact 77 not found. Available: {number}" in missing.text
    assert "ID must be numeric, got: x" in nonsense.text


async def test_a_job_that_finished_while_a_call_ran_is_announced_with_it(tmp_path: Path) -> None:
    go = anyio.Event()
    script: Script = {"wait": [WaitFor(go)], "next": []}
    async with scripted_runtime(script, tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "wait", background=True)
        queued = begin(group, runtime, "next")
        await anyio.wait_all_tasks_blocked()
        go.set()
        result = await queued.finish()
    assert "job-1 has finished (ok, after 0." in result.text
    assert "session wait shows its result." in result.text
