"""Who holds a session, who gets one of its own, when one is ended, and who is told."""

import signal
from pathlib import Path

import anyio
import pytest

from pisces.kernels.base import Revival, Ticket
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Die, Hang, WaitFor
from pisces.model.events import ProcessExit, Stream
from pisces.runtime import Runtime
from pisces.sessions import pool as pool_module
from pisces.sessions.key import SessionKey
from pisces.tools.base import CallContext
from tests.fakes.drive import eventually
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import begin, call, details, kernel_of, pool_of, scripted_runtime


async def test_two_owners_share_a_session_until_one_resets_it(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x", owner="parent")
        await call(runtime, "x", owner="helper")
        assert len(backend.kernels) == 1
        reset = await call(runtime, "x", owner="helper", reset=True)
        later = await call(runtime, "x", owner="helper")
        parent = await call(runtime, "x", owner="parent")
    told = "Others use session 'default' too, and keep it as it was. The reset gave you a separate session of that name"
    assert [told in each.text for each in (reset, later, parent)] == [True, False, False]
    assert [len(kernel.requests) for kernel in backend.kernels] == [3, 2]
    assert (kernel_of(reset).generation, kernel_of(reset).state) == (1, "kept")
    assert (kernel_of(parent).generation, kernel_of(parent).state) == (1, "kept")


async def test_a_second_reset_keeps_the_owners_own_session(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        for owner in ("parent", "helper"):
            await call(runtime, "x", owner=owner)
        await call(runtime, "x", owner="helper", reset=True)
        again = await call(runtime, "x", owner="helper", reset=True)
        assert len(pool_of(runtime).sessions) == 2
    assert kernel_of(again).generation == 2
    assert len(backend.kernels[0].requests) == 2


async def test_a_session_ends_when_the_last_owner_leaves(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        for owner in ("parent", "helper"):
            await call(runtime, "x", owner=owner)
        await pool_of(runtime).leave("helper")
        assert await backend.kernels[0].is_alive()
        await pool_of(runtime).leave("parent")
        assert not await backend.kernels[0].is_alive()
        assert pool_of(runtime).sessions == []
        assert kernel_of(await call(runtime, "x", owner="parent")).state == "kept"


async def test_every_owner_hears_of_a_loss(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": [], "crash": [Die(signal=signal.SIGKILL)]})
    async with scripted_runtime(backend, tmp_path) as runtime:
        for owner in ("parent", "helper"):
            await call(runtime, "x", owner=owner)
        assert kernel_of(await call(runtime, "crash", owner="helper")).state == "lost"
        assert kernel_of(await call(runtime, "x", owner="helper")).state == "kept"
        parent = await call(runtime, "x", owner="parent")
        again = await call(runtime, "x", owner="parent")
    assert kernel_of(parent).state == "lost"
    assert parent.text.startswith("[State: lost] The kernel was ended by SIGKILL.")
    assert kernel_of(again).state == "kept"


async def test_an_idle_session_is_evicted_when_its_owner_is_gone_and_the_next_call_says_so(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path, idle_timeout=60) as runtime:
        pool = pool_of(runtime)
        await call(runtime, "x")
        pool.disconnect("runtime")
        await pool.evict_idle()
        assert len(pool.sessions) == 1, "it has not been idle for long enough"
        pool.sessions[0].last_used -= 60
        await pool.evict_idle()
        assert pool.sessions == []
        assert not await backend.kernels[0].is_alive()
        told, later = await call(runtime, "x"), await call(runtime, "x")
    assert kernel_of(told).state == "lost"
    assert told.text.startswith("[State: lost] The session was idle for 60 seconds and was ended.")
    assert kernel_of(later).state == "kept"


async def test_a_session_whose_owner_is_connected_is_not_evicted_by_time(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path, idle_timeout=0.1) as runtime:
        pool = pool_of(runtime)
        await call(runtime, "x", owner="here")
        await call(runtime, "x", owner="gone")
        pool.disconnect("gone")
        pool.sessions[0].last_used -= 3600
        await pool.evict_idle()
        assert len(pool.sessions) == 1
        pool.disconnect("here")
        await call(runtime, "x", owner="here")  # It came back.
        pool.sessions[0].last_used -= 3600
        await pool.evict_idle()
        assert len(pool.sessions) == 1


async def test_each_owner_of_an_evicted_session_is_told(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path, idle_timeout=0.1) as runtime:
        pool = pool_of(runtime)
        for owner in ("parent", "helper"):
            await call(runtime, "x", owner=owner)
            pool.disconnect(owner)
        pool.sessions[0].last_used -= 1
        await pool.evict_idle()
        for owner in ("parent", "helper"):
            assert kernel_of(await call(runtime, "x", owner=owner)).state == "lost"
            assert kernel_of(await call(runtime, "x", owner=owner)).state == "kept"


async def test_an_owner_whose_own_session_was_evicted_does_not_fall_back_into_the_shared_one(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path, idle_timeout=0.1) as runtime:
        pool = pool_of(runtime)
        for owner in ("parent", "helper"):
            await call(runtime, "x", owner=owner)
        await call(runtime, "x", owner="helper", reset=True)
        pool.disconnect("helper")
        for session in pool.sessions:
            session.last_used -= 1
        await pool.evict_idle()
        told = await call(runtime, "x", owner="helper")
        parent = await call(runtime, "x", owner="parent")
    assert kernel_of(told).state == "lost"
    assert kernel_of(parent).state == "kept"
    assert [len(kernel.requests) for kernel in backend.kernels] == [3, 1, 1]


async def test_on_overflow_the_least_recently_used_session_makes_room(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path, max_sessions=2) as runtime:
        results = [await call(runtime, "x", session=name) for name in ("a", "b", "a", "c")]
        assert [await kernel.is_alive() for kernel in backend.kernels] == [True, False, True]
        kept, told = await call(runtime, "x", session="a"), await call(runtime, "x", session="b")
    assert kernel_of(kept).state == "kept"
    assert kernel_of(told).state == "lost"
    assert "to make room: 2 kernels may be up" in told.text
    sentence = "Session 'b' was ended to make room for this one: at most 2 kernels may be up (`python.maxSessions`)."
    assert [sentence in result.text for result in results] == [False, False, False, True]


async def test_a_busy_session_is_never_ended_to_make_room_and_the_new_one_waits(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"busy": [Stream("stdout", "busy\n"), WaitFor(go)], "x": []})
    async with scripted_runtime(backend, tmp_path, max_sessions=1) as runtime, anyio.create_task_group() as group:
        busy = begin(group, runtime, "busy", session="busy")
        await busy.watcher.prints("busy")
        late = await call(runtime, "x", session="late", timeout=1)
        waiting = begin(group, runtime, "x", session="waiting")
        await anyio.wait_all_tasks_blocked()
        assert waiting.result is None
        go.set()
        assert details(await waiting.finish()).outcome == "ok"
        assert details(await busy.finish()).outcome == "ok"
    assert details(late).outcome == "timeout"
    assert "All 1 kernels are busy" in late.text


async def test_sessions_of_different_names_run_side_by_side(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"wait": [Stream("stdout", "waiting\n"), WaitFor(go)], "x": []})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        waiting = begin(group, runtime, "wait", session="one")
        await waiting.watcher.prints("waiting")
        other = await call(runtime, "x", session="two")
        go.set()
        await waiting.finish()
    assert (details(other).session, details(other).outcome) == ("two", "ok")


async def test_two_resets_at_once_make_one_fresh_kernel(tmp_path: Path) -> None:
    up = anyio.Event()
    up.set()

    async def start() -> None:
        await up.wait()

    backend = MemoryBackend({"x": []}, on_start=start)
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "x")
        up = anyio.Event()
        first, second = begin(group, runtime, "x", reset=True), begin(group, runtime, "x", reset=True)
        await anyio.wait_all_tasks_blocked()
        up.set()
        assert kernel_of(await first.finish()).generation == 2
        assert kernel_of(await second.finish()).generation == 2
    assert len(backend.kernels) == 2


async def test_in_per_call_mode_each_call_has_a_kernel_of_its_own_that_is_ended(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": [], "crash": [Die(signal=signal.SIGKILL)]})
    async with scripted_runtime(backend, tmp_path, kernel_mode="per-call") as runtime:
        for code in ("x", "x", "crash"):
            await call(runtime, code)
        result = await call(runtime, "x", reset=True)
        assert pool_of(runtime).sessions == []
        assert [await kernel.is_alive() for kernel in backend.kernels] == [False] * 4
    assert (kernel_of(result).generation, kernel_of(result).state) == (1, "kept")
    assert [len(kernel.requests) for kernel in backend.kernels] == [1, 1, 1, 1]


async def test_closing_refuses_queued_calls_and_interrupts_the_running_one(tmp_path: Path) -> None:
    backend = MemoryBackend({"hang": [Stream("stdout", "hanging\n"), Hang()], "x": []})
    async with scripted_runtime(backend, tmp_path, interrupt_grace=0.1) as runtime, anyio.create_task_group() as group:
        hanging = begin(group, runtime, "hang")
        await hanging.watcher.prints("hanging")
        queued = begin(group, runtime, "x")
        await anyio.wait_all_tasks_blocked()
        (session,) = pool_of(runtime).sessions
        await session.close(wait=0.05)
        result, refused = await hanging.finish(), await queued.finish()
    assert details(result).outcome == "interrupted"
    assert refused.text.startswith("Error: Session 'default' has been closed")
    assert len(backend.kernels) == 1
    assert [request.code for request in backend.kernels[0].requests] == ["hang"]


async def test_closing_ends_a_start_that_hangs(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []}, on_start=anyio.sleep_forever)
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        starting = begin(group, runtime, "x")
        await anyio.wait_all_tasks_blocked()
        (session,) = pool_of(runtime).sessions
        await session.close(wait=0.05)
        result = await starting.finish()
    assert details(result).outcome == "aborted"


async def test_closing_lets_a_running_call_that_is_nearly_done_finish(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"x": [Stream("stdout", "begun\n"), WaitFor(go), Stream("stdout", "done\n")]})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, "x")
        await running.watcher.prints("begun")
        group.start_soon(pool_of(runtime).aclose)
        await anyio.wait_all_tasks_blocked()
        refused = await call(runtime, "x")
        go.set()
        result = await running.finish()
    assert result.text == "begun\ndone"
    assert refused.text.startswith("Error: The runtime has been closed")


async def test_the_pool_looks_after_its_sessions_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_LIVENESS_SECONDS", 0.01)
    monkeypatch.setattr(pool_module, "_SWEEP_SECONDS", 0.05)
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path, idle_timeout=0.1) as runtime:
        await call(runtime, "x", session="dead")
        await call(runtime, "x", session="idle", owner="gone")
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        pool_of(runtime).disconnect("gone")
        (dead,) = [session for session in pool_of(runtime).sessions if session.key.id == "dead"]
        await eventually(lambda: dead.kernel is None)
        await eventually(lambda: pool_of(runtime).sessions == [dead])


async def test_a_session_is_known_by_name_and_interpreter_and_never_by_the_folder_of_a_call(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x")
        await call(runtime, "x", cwd="other")
        await call(runtime, "x", cwd="other")
        await call(runtime, "x", cwd=".")
    (kernel,) = backend.kernels
    folder = str(runtime.cwd)
    assert [request.cwd for request in kernel.requests] == [None, f"{folder}/other", None, folder]


async def test_what_the_code_did_to_the_names_is_not_asked_when_that_is_off(tmp_path: Path) -> None:
    backend = MemoryBackend({"x": []})
    async with scripted_runtime(backend, tmp_path, variables=False) as runtime:
        result = await call(runtime, "x")
    assert [request.inspect for request in backend.kernels[0].requests] == [False]
    assert details(result).variables is None


async def test_the_first_result_of_a_new_session_says_so_and_names_the_others(tmp_path: Path) -> None:
    async with scripted_runtime({"x": [Stream("stdout", "out")]}, tmp_path) as runtime:
        unnamed = await call(runtime, "x")
        first = await call(runtime, "x", session="model")
        await call(runtime, "x", session="train")
        mistyped = await call(runtime, "x", session="trian")
        again = await call(runtime, "x", session="trian")
        for number in range(11):
            await call(runtime, "x", session=f"helper {number}")
        last = await call(runtime, "x", session="helper 11")
    assert unnamed.text == again.text == "out"
    assert first.text == "This is a new session 'model'. Existing sessions: 'default'.\n\nout"
    assert details(first).notices == ["This is a new session 'model'. Existing sessions: 'default'."]
    assert mistyped.text.startswith("This is a new session 'trian'. Existing sessions: 'train', 'model', 'default'.\n")
    assert last.text.startswith("This is a new session 'helper 11'. Existing sessions: 'helper 1', 'helper 10', 'helpe")
    assert " and 5 more.\n" in last.text


async def test_a_default_session_is_new_only_to_who_has_others(tmp_path: Path) -> None:
    async with scripted_runtime({"x": [Stream("stdout", "out")]}, tmp_path) as runtime:
        named = await call(runtime, "x", session="train", owner="one")
        forgotten = await call(runtime, "x", owner="one")
        context = CallContext(owner="two", default_session="two")
        other = await runtime.tool("python", {"code": "x"}, context=context)
    assert named.text.startswith("This is a new session 'train'.\n")
    assert forgotten.text.startswith("This is a new session 'default'. Existing sessions: 'train'.\n")
    assert other.text == "out"


async def test_that_a_session_is_new_is_said_once_and_to_who_reads_it(tmp_path: Path) -> None:
    async with scripted_runtime({"x": [Stream("stdout", "out")]}, tmp_path) as runtime:
        unread = CallContext(unread=lambda: True)
        await runtime.tool("python", {"code": "x", "session": "new"}, context=unread)
        job = await call(runtime, "x", session="new", background=True)
        reset = await call(runtime, "x", session="new", reset=True)
        await runtime.session("close", session="new")
        made_again = await call(runtime, "x", session="new")
    assert "This is a new session 'new'." in job.text
    assert "new session" not in reset.text
    assert "This is a new session 'new'." in made_again.text


async def test_a_session_that_was_ended_is_lost_and_not_new(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path, max_sessions=1) as runtime:
        await call(runtime, "x", session="a")
        await call(runtime, "x", session="b")
        back = await call(runtime, "x", session="a")
    assert back.text.startswith("[State: lost] ")
    assert "new session" not in back.text


SHARED = "Another agent uses session 'default' too: each can change the other's variables. "


async def as_agent(runtime: Runtime, caller: str, tool: str = "python", **params: object) -> str:
    """What a call of this agent says."""
    given = {"code": "x"} if tool == "python" else {}
    return (await runtime.tool(tool, {**given, **params}, context=CallContext(caller=caller))).text


async def test_agents_that_share_a_session_are_told_once_each(tmp_path: Path) -> None:
    async with scripted_runtime({"x": [Stream("stdout", "out")]}, tmp_path) as runtime:
        before = [await as_agent(runtime, caller) for caller in ("parent", "", "parent")]
        told = [await as_agent(runtime, caller) for caller in ("child", "parent")]
        after = [await as_agent(runtime, caller) for caller in ("child", "parent", "")]
        third = [await as_agent(runtime, caller) for caller in ("third", "parent")]
        apart = await as_agent(runtime, "child", session="apart")
    assert before == after == ["out"] * 3
    assert [text.startswith(SHARED) for text in told] == [True, True]
    assert told[0].endswith("To work apart, name another `session`.\n\nout")
    assert [text.startswith(SHARED) for text in third] == [True, False]
    assert apart.startswith("This is a new session 'apart'.")


async def test_an_agent_that_acts_on_the_state_is_one_that_uses_the_session(tmp_path: Path) -> None:
    async with scripted_runtime(MemoryBackend(remembering, revival=Revival("exact")), tmp_path) as runtime:
        await as_agent(runtime, "parent", code="x = 1")
        looked = await as_agent(runtime, "child", "session", action="variables")
        unaware = await as_agent(runtime, "parent")
        kept = await as_agent(runtime, "child", "session", action="checkpoint", name="mine")
        aware = await as_agent(runtime, "parent")
        await as_agent(runtime, "child", "session", action="close")
        lost = await as_agent(runtime, "parent")
    assert "Another agent" not in looked + unaware
    assert kept.startswith(SHARED)
    assert aware.startswith(SHARED)
    assert lost.startswith("[State: lost] Somebody who shared the session closed it")


async def test_what_an_agent_has_not_read_of_another_is_said_again(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path) as runtime:
        await as_agent(runtime, "parent")
        unread = CallContext(caller="child", unread=lambda: True)
        assert "Another" not in (await runtime.tool("python", {"code": "x"}, context=unread)).text
        assert (await as_agent(runtime, "child")).startswith(SHARED)


async def test_a_run_from_scratch_takes_no_session_whose_kernel_was_left_on_a_gateway(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path) as runtime:
        pool, key = pool_of(runtime), SessionKey("work-clean", str(tmp_path), "python", "gateway")
        assert pool.clean_name("work") == "work-clean"
        runtime.records.keep(key, Ticket("http://127.0.0.1:1", "id", "client", "nonce"))
        assert pool.clean_name("work") == "work-clean-2"
        await call(runtime, "x", session="work-clean-2")
        assert pool.clean_name("work") == "work-clean-3"
