"""Undo, restore by name, branch: a session stands where it was told to, and says what that means."""

import signal
from pathlib import Path

import anyio
import pytest

from pisces.bridge.lease import Caller
from pisces.bridge.server import Bridge
from pisces.errors import CheckpointError, DeadlineExceeded, InvalidCall, KernelStartError, SessionError
from pisces.kernels.base import Outlook, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend, MemoryCheckpoint, MemoryKernel
from pisces.kernels.memory_script import MemoryProcess, WaitFor
from pisces.model.events import ProcessExit, Restore, Stream, Variable
from pisces.runtime import Runtime
from pisces.sessions.session import Session
from tests.fakes.assignments import (
    COSTLY,
    CRASH,
    keeping_backend,
    keeping_runtime,
    kernel_in,
    session_of,
    shown,
    soon,
)
from tests.fakes.runtimes import begin, call, kernel_of, pool_of, scripted_runtime


async def run_cells(runtime: Runtime, count: int) -> Session:
    """Cells that assign their number to `a`, each in a call of its own; the session that they ran in."""
    for number in range(1, count + 1):
        await call(runtime, f"a = {number}")
    return session_of(runtime)


async def branch_of(runtime: Runtime, name: str = "other") -> Session:
    session = session_of(runtime)
    return await pool_of(runtime).branch(session, name, "runtime", soon())


async def test_undo_after_undo_leads_to_the_beginning_and_says_when_it_is_reached(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 3)
        steps = [await session.undo(soon()) for _ in range(2)]
        assert [(went.cells, went.position, went.next_back, went.fresh) for went in steps] == [
            (1, 2, 1, False),
            (1, 1, 1, False),
        ]
        assert await shown(runtime, "a") == "1"
        await session.undo(soon())
        last = await session.undo(soon())
        assert (last.cells, last.position, last.next_back, last.fresh) == (1, 0, 0, True)
        assert "KeyError" in await shown(runtime, "a")
        await session.undo(soon())
        with pytest.raises(CheckpointError, match="nothing to undo in this session: no cell has finished"):
            await session.undo(soon())


async def test_undo_goes_as_far_as_checkpoints_are_kept_and_then_refuses(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 12)
        for position in range(11, 4, -1):
            went = await session.undo(soon())
            assert (went.position, went.next_back) == (position, 1 if position > 5 else 5)
        with pytest.raises(CheckpointError, match="before the last cell is not kept") as refusal:
            await session.undo(soon())
        assert refusal.value.hint == "undo with steps: 5 takes the session back to the beginning, with a fresh kernel."
        assert (await session.undo(soon(), steps=5)).fresh


async def test_undo_takes_no_more_back_than_was_asked_for_and_says_what_it_could(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 1)
        kernel_in(session).prospect = COSTLY
        await call(runtime, ["a = 2", "a = 3"])
        with pytest.raises(CheckpointError, match="before the last cell is not kept") as refusal:
            await session.undo(soon())
        assert refusal.value.hint == "undo with steps: 2 takes the session back to where it stood after 1 cell."
        assert await shown(runtime, "a") == "3"
        went = await session.undo(soon(), steps=3)
        assert (went.cells, went.position) == (3, 1)
        assert await shown(runtime, "a") == "1"


async def test_several_cells_are_undone_at_once(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 5)
        assert (await session.undo(soon(), steps=3)).position == 2
        assert await shown(runtime, "a") == "2"
        for steps in (0, 9):
            with pytest.raises(CheckpointError, match=f"{steps} cells cannot be undone: the session has finished 3"):
                await session.undo(soon(), steps=steps)


async def test_undo_takes_a_reset_back_as_one_step(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 3)
        reset = await call(runtime, ["b = 7", "b = 8"], reset=True)
        assert "The reset dropped 1 variable: a. `undo` with steps: 3 takes it back." in reset.text
        with pytest.raises(CheckpointError, match="4 cells cannot be undone: the session has finished 2") as refusal:
            await session.undo(soon(), steps=4)
        assert refusal.value.hint == "undo with steps: 3 takes the reset before them back too."
        cells = await session.undo(soon(), steps=2)
        assert (cells.cells, cells.position, cells.next_back, cells.reset) == (2, 0, 1, False)
        went = await session.undo(soon())
        assert (went.cells, went.position, went.next_back, went.reset) == (0, 3, 3, True)
        assert await shown(runtime, "a") == "3"
        await call(runtime, "b = 9", reset=True)
        assert (await session.undo(soon(), steps=2)).position == 4, "the cells and the reset, in one step"
        assert await shown(runtime, "a") == "3"


async def test_a_reset_keeps_a_state_that_was_too_costly_to_keep_after_its_cell(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 1)
        kernel_in(session).prospect = COSTLY
        await call(runtime, "a = 2")
        kernel_in(session).delay = delay = anyio.Event()
        async with anyio.create_task_group() as group:
            resetting = begin(group, runtime, "b = 1", reset=True)
            await anyio.wait_all_tasks_blocked()
            assert await kernel_in(session).is_alive(), "what is still being made would end with its kernel"
            delay.set()
            await resetting.finish()
        await session.undo(soon(), steps=2)
        assert await shown(runtime, "a") == "2"


async def test_what_a_reset_dropped_is_still_there_after_a_crash_and_a_second_reset_of_nothing(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 2)
        await call(runtime, CRASH, reset=True)
        again = await call(runtime, CRASH, reset=True)
        assert "dropped" not in again.text, "there was nothing left to drop"
        assert (await session.undo(soon())).reset
        assert await shown(runtime, "a") == "2"


async def test_a_reset_that_is_stopped_before_it_drops_anything_does_not_say_what_an_earlier_one_dropped(
    tmp_path: Path,
) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 1)
        await call(runtime, "b = 1", reset=True)
        kernel_in(session).prospect = COSTLY
        await call(runtime, "b = 2")
        kernel_in(session).delay = anyio.Event()
        abort = anyio.Event()
        async with anyio.create_task_group() as group:
            resetting = begin(group, runtime, "c = 1", reset=True, abort=abort)
            await anyio.wait_all_tasks_blocked()
            abort.set()
            stopped = await resetting.finish()
        assert "dropped" not in stopped.text
        assert await shown(runtime, "b") == "2"


async def test_a_second_reset_that_drops_nothing_leaves_the_way_back_over_the_first(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 2)
        await call(runtime, "fail", reset=True)
        again = await call(runtime, "fail", reset=True)
        assert "dropped" not in again.text
        went = await session.undo(soon(), steps=2)
        assert (went.cells, went.position, went.reset) == (1, 2, True)
        assert await shown(runtime, "a") == "2"


async def test_a_reset_that_cannot_be_taken_back_says_why(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 1)
        kernel_in(session).prospect = Outlook(obstacle="a CUDA context is live")
        await call(runtime, "a = 2")
        reset = await call(runtime, "b = 1", reset=True)
        expected = "The reset dropped 1 variable: a. It cannot be taken back: a CUDA context is live."
        assert expected in reset.text
        with pytest.raises(CheckpointError, match="2 cells cannot be undone"):
            await session.undo(soon(), steps=2)


async def test_undo_says_what_did_not_come_back(tmp_path: Path) -> None:
    backend = keeping_backend(Revival("by_value", missing=("conn (socket)",)))
    async with keeping_runtime(tmp_path, backend) as runtime:
        session = await run_cells(runtime, 2)
        assert (await session.undo(soon())).restore == Restore("by_value", 0, ("conn (socket)",))


async def test_a_named_state_can_be_gone_to_from_before_and_after_it(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 2)
        kept = await session.checkpoint("two", soon())
        assert (kept.name, kept.position) == ("two", 2)
        await call(runtime, "a = 3")
        assert (await session.restore_to("two", soon())).cells == 1
        assert await shown(runtime, "a") == "2"
        await session.undo(soon(), steps=2)
        forward = await session.restore_to("two", soon())
        assert (forward.cells, forward.position, forward.name) == (-1, 2, "two")
        assert await shown(runtime, "a") == "2"
        with pytest.raises(CheckpointError, match=r"no checkpoint named 'three'\. Named checkpoints: 'two'"):
            await session.restore_to("three", soon())


async def test_without_a_name_the_newest_named_state_is_meant_else_the_newest(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 2)
        assert (await session.restore_to(None, soon())).position == 2
        await session.checkpoint("two", soon())
        await call(runtime, "a = 3")
        assert (await session.restore_to(None, soon())).position == 2
    async with keeping_runtime(tmp_path, checkpoint="off") as runtime:
        session = await run_cells(runtime, 1)
        with pytest.raises(CheckpointError, match="no checkpoint to go back to"):
            await session.restore_to(None, soon())


async def test_a_named_state_outlives_a_reset_a_loss_and_an_undo_to_the_beginning(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, checkpoint="off") as runtime:
        session = await run_cells(runtime, 2)
        await session.checkpoint("two", soon())
        await call(runtime, "a = 9", reset=True)
        assert session.position == 1
        assert (await session.restore_to("two", soon())).position == 2
        assert await shown(runtime, "a") == "2"
        await session.restore_to("two", soon())
        assert (await session.undo(soon(), steps=2)).fresh
        assert (await session.restore_to("two", soon())).position == 2


async def test_a_crash_leads_back_on_the_way_the_session_took_and_not_to_a_name_beside_it(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 2)
        await session.checkpoint("aside", soon())
        await session.undo(soon())
        kernel_in(session).prospect = COSTLY
        await call(runtime, ["b = 7", "b = 8"])
        crashed = await call(runtime, CRASH)
        assert kernel_of(crashed).restore == Restore("exact", 2)
        assert await shown(runtime, "a") == "1"


async def test_checkpoints_can_be_dropped_and_have_names(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 1)
        await session.checkpoint("x", soon())
        session.drop_checkpoint("x")
        with pytest.raises(CheckpointError, match=r"no checkpoint named 'x'\. Named checkpoints: none"):
            session.drop_checkpoint("x")
        with pytest.raises(InvalidCall, match="needs a name"):
            await session.checkpoint(" ", soon())
        kernel_in(session).prospect = Outlook(obstacle="a CUDA context is live")
        with pytest.raises(CheckpointError, match="No checkpoint can be made: a CUDA context is live"):
            await session.checkpoint("x", soon())


async def test_when_a_checkpoint_does_not_wake_nothing_has_changed(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 3)
        kernel_in(session).prospect = COSTLY
        await call(runtime, "b = 4")
        kernel_in(session).checkpoints[1].broken = True
        with pytest.raises(CheckpointError, match="of after 2 cells could not be woken") as refused:
            await session.undo(soon(), steps=2)
        after = await call(runtime, "b")
        position = session.position
    assert "Nothing has changed" in refused.value.explain()
    assert (kernel_of(after).state, kernel_of(after).generation, position) == ("kept", 1, 5)
    assert after.text.startswith("4")


async def test_a_branch_that_does_not_wake_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 1)

        def broken(self: MemoryCheckpoint, missing: tuple[str, ...]) -> MemoryProcess:
            raise KernelStartError("The checkpoint did not wake")

        with monkeypatch.context() as patch:
            patch.setattr(MemoryCheckpoint, "wake", broken)
            with pytest.raises(CheckpointError, match="The checkpoint did not wake") as refused:
                await pool_of(runtime).branch(session, "other", "runtime", soon())
        assert "Nothing has changed" in refused.value.explain()
        assert [each.key.id for each in pool_of(runtime).sessions] == ["default"]
        assert await shown(runtime, "a") == "1"


async def test_a_checkpoint_that_does_not_wake_for_a_dead_kernel_leaves_the_session_at_another(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        session = await run_cells(runtime, 3)
        kernel_in(session).checkpoints[1].broken = True
        kernel_in(session).die(ProcessExit(signal=signal.SIGKILL))
        with pytest.raises(CheckpointError, match="of after 2 cells could not be woken") as refused:
            await session.undo(soon())
        told = await call(runtime, "a")
    assert "Nothing has changed" not in refused.value.explain()
    assert kernel_of(told).restore == Restore("exact")
    assert told.text.startswith("[State: restored] The kernel had ended since the last call.")
    assert told.text.endswith("3")


async def test_a_named_checkpoint_is_certain_when_it_is_told(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime, anyio.create_task_group() as group:
        session = await run_cells(runtime, 1)
        await session.checkpoint("one", soon())
        await call(runtime, "a = 2")
        kernel = kernel_in(session)
        kernel.delay = anyio.Event()
        with pytest.raises(DeadlineExceeded):
            await session.checkpoint("one", Deadline.after(0.05))
        assert session.state.checkpoints.find("one").position == 1, "the old one stays until there is another"
        group.start_soon(session.checkpoint, "two", soon())
        await anyio.wait_all_tasks_blocked()
        assert [kept.name for kept in session.state.checkpoints.named] == ["one"]
        kernel.delay.set()
        assert (await session.restore_to("two", soon())).name == "two"


async def test_a_checkpoint_that_is_still_being_made_is_waited_for_before_the_kernel_is_ended(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime, anyio.create_task_group() as group:
        session = await run_cells(runtime, 1)
        kernel = kernel_in(session)
        kernel.delay = anyio.Event()
        await call(runtime, "a = 2")
        group.start_soon(session.restore_to, None, soon())
        await anyio.wait_all_tasks_blocked()
        assert await kernel.is_alive()
        kernel.delay.set()
        assert await shown(runtime, "a") == "2"


async def test_a_kernel_that_cannot_keep_its_state_refuses_all_of_it(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path) as runtime:
        await call(runtime, "x")
        session = session_of(runtime)
        refused = [session.checkpoint("a", soon()), session.undo(soon()), branch_of(runtime)]
        for attempt in refused:
            with pytest.raises(CheckpointError, match="Kernels of the backend 'memory' cannot keep their state"):
                await attempt
        assert kernel_of(await call(runtime, "x")).state == "kept"


async def test_the_others_who_share_a_session_hear_that_it_was_taken_back(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        for owner in ("parent", "helper"):
            await call(runtime, "a = 1", owner=owner)
        await session_of(runtime).undo(soon(), owner="helper")
        assert kernel_of(await call(runtime, "a", owner="helper")).state == "kept"
        parent = await call(runtime, "a", owner="parent")
    assert parent.text.startswith("[State: restored] Somebody who shares this session has had it taken back by 1 cell")
    assert kernel_of(parent).restore == Restore("exact", 1)


async def test_going_back_waits_for_the_running_call_within_its_deadline(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = MemoryBackend({"x": [Stream("stdout", "begun\n"), WaitFor(go)]}, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        running = begin(group, runtime, "x")
        await running.watcher.prints("begun")
        with pytest.raises(DeadlineExceeded, match="had not finished in time; nothing was done"):
            await session_of(runtime).undo(Deadline.after(0.05))
        go.set()
        await running.finish()
        assert (await session_of(runtime).undo(soon())).cells == 1


async def test_a_branch_has_the_state_and_neither_sees_the_other(tmp_path: Path) -> None:
    backend = keeping_backend()
    async with keeping_runtime(tmp_path, backend) as runtime:
        await run_cells(runtime, 2)
        branch = await branch_of(runtime)
        assert (branch.position, branch.generation, branch.key.id) == (2, 1, "other")
        assert branch.origin is not None
        assert (branch.origin.session, branch.origin.position, branch.origin.restore.how) == ("default", 2, "exact")
        await call(runtime, "a = 30", session="other")
        await call(runtime, "a = 40")
        assert [await shown(runtime, "a", session=name) for name in ("other", "default")] == ["30", "40"]
        assert len(backend.kernels) == 2


async def test_undo_in_a_branch_ends_where_it_began(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await run_cells(runtime, 3)
        branch = await branch_of(runtime)
        with pytest.raises(CheckpointError, match="no cell has finished since it was branched"):
            await branch.undo(soon())
        await call(runtime, "a = 9", session="other")
        went = await branch.undo(soon())
        assert (went.position, went.next_back) == (3, 0)
        assert await shown(runtime, "a", session="other") == "3"


async def test_a_branch_that_crashes_in_its_first_cell_stands_where_it_began(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await run_cells(runtime, 2)
        await branch_of(runtime)
        crashed = await call(runtime, CRASH, session="other")
        assert kernel_of(crashed).restore == Restore("exact")
        assert await shown(runtime, "a", session="other") == "2"


async def test_a_branch_without_checkpoints_that_crashes_is_lost_and_said_so(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, checkpoint="off") as runtime:
        await run_cells(runtime, 2)
        await branch_of(runtime)
        assert kernel_of(await call(runtime, CRASH, session="other")).state == "lost"


async def test_a_branch_needs_a_free_name_and_a_free_slot(tmp_path: Path) -> None:
    backend = keeping_backend()
    async with keeping_runtime(tmp_path, backend, max_sessions=1) as runtime:
        session = await run_cells(runtime, 1)
        with pytest.raises(SessionError, match="There is a session named 'default' already"):
            await branch_of(runtime, "default")
        with pytest.raises(DeadlineExceeded, match="All 1 kernels are busy"):
            await pool_of(runtime).branch(session, "other", "runtime", Deadline.after(0.05))
        assert [made.key.id for made in pool_of(runtime).sessions] == ["default"]
        assert [made.usable for made in kernel_in(session).checkpoints] == [True, False]
        assert await shown(runtime, "a") == "1"


async def test_a_session_with_a_named_state_is_ended_last_and_never_for_being_idle(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, idle_timeout=0.1, max_sessions=2) as runtime:
        pool = pool_of(runtime)
        await call(runtime, "a = 1", session="named")
        await session_of(runtime, "named").checkpoint("mine", soon())
        pool.disconnect("runtime")
        session_of(runtime, "named").last_used -= 3600
        await pool.evict_idle()
        for name in ("b", "c"):
            await call(runtime, "a = 1", session=name)
        assert sorted(session.key.id for session in pool.sessions if session.kernel) == ["c", "named"]


async def test_the_names_are_listed_now_and_while_a_cell_runs_as_of_the_last_one(tmp_path: Path) -> None:
    go = anyio.Event()
    backend = keeping_backend()
    async with keeping_runtime(tmp_path, backend) as runtime, anyio.create_task_group() as group:
        session = await run_cells(runtime, 1)
        now = await session.variables(soon())
        assert (now.variables, now.current, now.complete) == ((Variable("a", "int"),), True, True)
        await call(runtime, "b = 2")
        waiting = begin(group, runtime, "a", abort=go)
        async with session.turn(soon()):
            meanwhile = await session.variables(soon())
        await waiting.finish()
        assert [variable.name for variable in meanwhile.variables] == ["a", "b"]
        assert (meanwhile.current, meanwhile.complete) == (False, True)
        await session.undo(soon(), steps=2)
        async with session.turn(soon()):
            assert [variable.name for variable in (await session.variables(soon())).variables] == ["a"]


async def test_names_that_nobody_asked_about_are_not_said_to_be_all(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, variables=False) as runtime:
        session = await run_cells(runtime, 1)
        async with session.turn(soon()):
            assert not (await session.variables(soon())).complete
        assert (await session.variables(soon())).complete


async def test_a_branch_names_the_session_that_was_ended_to_make_room_for_it(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, max_sessions=2) as runtime:
        await run_cells(runtime, 1)
        await call(runtime, "a = 1", session="bystander")
        made = await runtime.session("branch", to="trial")
        first = await call(runtime, "a = 2", session="trial")
    assert "\nSession 'bystander' was ended to make room for this one" in made.text
    assert "bystander" not in first.text


async def test_a_branch_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dismissed: list[Caller] = []
    monkeypatch.setattr(Bridge, "dismiss", lambda self, caller: dismissed.append(caller))

    async def refuse(self: MemoryKernel, *args: object) -> None:
        raise CheckpointError("no")

    monkeypatch.setattr(CheckpointingMemoryKernel, "branch", refuse)
    async with keeping_runtime(tmp_path, max_sessions=2) as runtime:
        await run_cells(runtime, 1)
        await call(runtime, "a = 1", session="bystander")
        failed = await runtime.session("branch", to="trial")
        assert failed.is_error
        assert [made.key.id for made in pool_of(runtime).sessions] == ["default", "bystander"]
        assert len(dismissed) == 1
        assert len(list((tmp_path / "home" / ".pisces").glob("**/*trial*"))) == 0
        first = await call(runtime, "a = 2", session="trial")
    assert first.text.startswith("This is a new session 'trial'. Existing sessions: 'default'.\n")
    assert "Session 'bystander' was ended to make room for this one" in first.text
