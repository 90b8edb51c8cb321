"""After a crash the state comes back from the newest checkpoint that wakes, and the result says what that means."""

import re
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import DeadlineExceeded
from pisces.kernels.base import ExecuteRequest, Outlook, Revival
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend, MemoryCheckpoint
from pisces.kernels.memory_script import Hang, Step, WaitForInterrupt
from pisces.model.events import ProcessExit, Restore
from pisces.sessions.recovery import StateNews
from tests.fakes.assignments import (
    CHEAP,
    COSTLY,
    CRASH,
    assignments,
    keeping_backend,
    keeping_runtime,
    kernel_in,
    session_of,
    shown,
)
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, details, kernel_of, pool_of, scripted_runtime


async def test_after_a_crash_the_next_call_finds_the_state_of_before_the_cell(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, ["a = 1", "b = 2"])
        crashed = await call(runtime, CRASH)
        assert [await shown(runtime, name) for name in "ab"] == ["1", "2"]
    assert (details(crashed).outcome, kernel_of(crashed).state) == ("crashed", "restored")
    assert kernel_of(crashed).restore == Restore("exact")
    assert crashed.text.splitlines()[0] == (
        "[State: restored] The kernel was ended by SIGSEGV. The state was restored exactly, to where the last finished "
        "cell had left it."
    )


async def test_cells_since_the_last_checkpoint_are_counted_as_lost_and_the_crashed_one_is_not(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel_in(session_of(runtime)).prospect = COSTLY
        skipped = await call(runtime, "a = 2")
        await call(runtime, "a = 3")
        crashed = await call(runtime, CRASH)
        assert await shown(runtime, "a") == "1"
    told = (
        r"No checkpoint was made after this cell \(it would cost about 31 ms after \d+ ms of work\); the last one is "
    )
    assert re.search(told + r"1 cell back\.$", skipped.text)
    assert kernel_of(crashed).restore == Restore("exact", 2)
    assert "2 cells earlier: what the last 2 finished cells did is lost." in crashed.text.splitlines()[0]


async def test_only_the_last_word_on_a_checkpoint_is_in_a_result_of_several_cells(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel = kernel_in(session_of(runtime))
        kernel.prospect = COSTLY
        several = await call(runtime, ["a = 2", "a = 3", "a = 4"])
        kernel.prospect = CHEAP
        silent = await call(runtime, ["a = 5"])
    assert several.text.count("No checkpoint was made") == 1
    assert "the last one is 3 cells back" in several.text
    assert "checkpoint" not in silent.text


async def test_what_the_lost_cells_of_a_call_did_is_not_claimed(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel_in(session_of(runtime)).prospect = COSTLY
        result = await call(runtime, ["b = 2", "c = 3", CRASH])
        assert result.text.endswith("The state of the cells before it is lost: run them again.")
        assert details(result).variables is None
        kernel_in(session_of(runtime)).prospect = CHEAP
        kept = await call(runtime, ["b = 2", "c = 3", CRASH])
    assert kept.text.endswith("Earlier cells succeeded; their state persists. Fix only cell 3.")
    assert [variable.name for variable in details(kept).variables.added] == ["b", "c"]  # type: ignore[union-attr]


async def test_of_several_cells_those_that_are_lost_are_named(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 0")
        kernel = kernel_in(session_of(runtime))

        def from_cell_2_on(update: object) -> None:
            kernel.prospect = COSTLY if len(kernel.requests) >= 2 else CHEAP

        result = await call(runtime, ["a = 1", "a = 2", "a = 3", CRASH], on_update=from_cell_2_on)
    assert result.text.endswith("What cells 2 to 3 did is lost too: run them again.")


async def test_a_checkpoint_that_does_not_wake_is_passed_over_for_an_older_one(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        for cell in ("a = 1", "a = 2", "a = 3"):
            await call(runtime, cell)
        kernel = kernel_in(session_of(runtime))
        kernel.checkpoints[2].broken = True
        kernel.checkpoints[1].drop()
        crashed = await call(runtime, CRASH)
        assert await shown(runtime, "a") == "1"
    assert kernel_of(crashed).restore == Restore("exact", 2)


async def test_a_checkpoint_by_value_that_hangs_leaves_time_for_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    tried: list[tuple[int, float]] = []

    async def hang_unless_exact(
        self: CheckpointingMemoryKernel, checkpoint: MemoryCheckpoint, deadline: Deadline
    ) -> Revival:
        seconds = deadline.remaining()
        tried.append((checkpoint.count, seconds))
        if checkpoint.by_value:
            now[0] += seconds
            raise DeadlineExceeded("The checkpoint was not back in time")
        return await restore(self, checkpoint, deadline)

    async with keeping_runtime(tmp_path) as runtime:
        for number in range(1, 5):
            await call(runtime, f"a = {number}")
        kernel = kernel_in(session_of(runtime))
        for checkpoint in kernel.checkpoints[1:]:
            checkpoint.by_value = True
        restore = CheckpointingMemoryKernel.restore
        monkeypatch.setattr(CheckpointingMemoryKernel, "restore", hang_unless_exact)
        monkeypatch.setattr("pisces.kernels.deadline.time.monotonic", lambda: now[0])
        crashed = await call(runtime, CRASH)
        monkeypatch.undo()
        assert await shown(runtime, "a") == "1"
    assert kernel_of(crashed).restore == Restore("exact", 3)
    assert [count for count, _ in tried] == [4, 1]
    assert tried[0][1] >= 25, "20 seconds for writing the variables, and some for loading them"
    assert tried[1][1] >= 5


async def test_a_checkpoint_that_ended_by_itself_is_reported_once_and_not_listed_any_more(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        await session.checkpoint("good", Deadline.after(PATIENCE))
        await call(runtime, "a = 2")
        kernel_in(session).checkpoints[1].die()
        listed = await runtime.session("list")
        first, second = await call(runtime, "a"), await call(runtime, "a")
        kernel_in(session).checkpoints[0].die()
        kernel_in(session).checkpoints[2].die()
        undone = await runtime.session("undo")
        third = await call(runtime, "a")
    assert "named" not in listed.text
    assert first.text == (
        "2\n\nThe checkpoint 'good', of after 1 cell, ended by itself (killed, or out of memory): the session cannot "
        "go back to that state any more."
    )
    assert second.text == "2"
    assert "2 checkpoints (of after 1 cell, of after 2 cells) ended by themselves" in undone.text
    assert third.text == "2"


async def test_a_checkpoint_that_was_given_up_is_not_reported_as_ended(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        for number in range(12):
            await call(runtime, f"a = {number}")
        session_of(runtime).state.checkpoints.drop_all()
        assert (await call(runtime, "a")).text == "11"


async def test_after_a_crash_a_checkpoint_that_had_ended_is_named_as_the_reason(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        for cell in ("a = 1", "a = 2"):
            await call(runtime, cell)
        kernel_in(session_of(runtime)).checkpoints[1].die()
        crashed = await call(runtime, CRASH)
    assert kernel_of(crashed).restore == Restore("exact", 1)
    assert "The checkpoint of after 2 cells ended by itself" in crashed.text


async def test_when_no_checkpoint_wakes_the_state_is_lost_and_said_so(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel_in(session_of(runtime)).checkpoints[0].broken = True
        crashed = await call(runtime, CRASH)
        assert session_of(runtime).position == 0
    assert (kernel_of(crashed).state, kernel_of(crashed).restore) == ("lost", None)


async def test_a_named_checkpoint_that_would_not_wake_after_a_crash_can_be_gone_back_to_later(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel = kernel_in(session_of(runtime))
        await runtime.session("checkpoint", name="good")
        for checkpoint in kernel.checkpoints:
            checkpoint.broken = True
        crashed = await call(runtime, CRASH)
        kernel.checkpoints[1].broken = False
        restored = await runtime.session("restore", name="good")
        assert not restored.is_error, restored.text
        assert await shown(runtime, "a") == "1"
    assert kernel_of(crashed).state == "lost"


async def test_variables_of_a_kernel_whose_end_was_not_heard_of_are_those_of_the_one_that_came_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel = kernel_in(session_of(runtime))
        heard, is_alive = iter([True]), kernel.is_alive

        async def not_heard_at_first() -> bool:
            return next(heard, False) or await is_alive()

        monkeypatch.setattr(kernel, "is_alive", not_heard_at_first)
        kernel.die(ProcessExit(signal=signal.SIGKILL))
        listed = await runtime.session("variables")
        told = await call(runtime, "b = 2")
    assert not listed.is_error, listed.text
    assert "a: int" in listed.text
    assert kernel_of(told).state == "restored"


async def test_a_first_cell_that_crashes_loses_nothing_but_counts_as_a_death(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        first = await call(runtime, CRASH)
        await call(runtime, CRASH)
        refused = await call(runtime, "a = 1")
    assert (kernel_of(first).state, kernel_of(first).restore) == ("restored", Restore("exact"))
    assert "nothing is lost" in first.text.splitlines()[0]
    assert refused.text.startswith("Error: Python kernel restarted too many times in this session")


async def test_crash_after_crash_comes_back_and_does_not_count_as_too_many(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        for generation in range(2, 6):
            assert kernel_of(await call(runtime, CRASH)).generation == generation
        assert await shown(runtime, "a") == "1"


async def test_a_cell_that_has_to_be_killed_leaves_the_state_of_before_it(tmp_path: Path) -> None:
    def script(request: ExecuteRequest, namespace: dict[str, Any]) -> Iterable[Step]:
        return [Hang()] if request.code == "hang" else assignments(request, namespace)

    backend = MemoryBackend(script, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path, interrupt_grace=0.1) as runtime:
        await call(runtime, "a = 1")
        result = await call(runtime, "hang", timeout=1)
        assert await shown(runtime, "a") == "1"
    assert (details(result).outcome, kernel_of(result).state) == ("timeout", "restored")
    assert kernel_of(result).restore == Restore("exact")
    assert "so the kernel was killed. The state was restored exactly" in result.text


async def test_a_cell_that_stops_when_interrupted_keeps_its_state_and_counts(tmp_path: Path) -> None:
    def script(request: ExecuteRequest, namespace: dict[str, Any]) -> Iterable[Step]:
        if request.code == "long":
            namespace["a"] = 2
            return [WaitForInterrupt()]
        return assignments(request, namespace)

    async with scripted_runtime(MemoryBackend(script, revival=Revival("exact")), tmp_path) as runtime:
        await call(runtime, "a = 1")
        stopped = await call(runtime, "long", timeout=1)
        assert kernel_of(stopped).state == "kept"
        assert session_of(runtime).position == 2
        await call(runtime, CRASH)
        assert await shown(runtime, "a") == "2"


async def test_a_cell_that_fails_has_changed_the_state_and_is_kept(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, ["a = 1"])
        await call(runtime, "fail")
        assert [kept.position for kept in session_of(runtime).state.checkpoints] == [1, 2]


async def test_in_per_call_mode_and_when_they_are_off_no_checkpoint_is_made(tmp_path: Path) -> None:
    for settings in ({"kernel_mode": "per-call"}, {"checkpoint": "off"}):
        backend = keeping_backend()
        async with keeping_runtime(tmp_path, backend, **settings) as runtime:
            result = await call(runtime, ["a = 1", "a = 2"])
        assert "checkpoint" not in result.text
        assert [kernel.checkpoints for kernel in backend.kernels] == [[]]  # type: ignore[attr-defined]


async def test_an_obstacle_and_a_refusal_are_said_with_how_far_back_the_last_one_is(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, checkpoint="always") as runtime:
        await call(runtime, "a = 1")
        kernel = kernel_in(session_of(runtime))
        kernel.prospect = Outlook(obstacle="a CUDA context is live")
        obstacle = await call(runtime, "a = 2")
        kernel.prospect, kernel.refusal = CHEAP, "no more processes can be made"
        refusal = await call(runtime, "a = 3")
    assert "(a CUDA context is live); the last one is 1 cell back." in obstacle.text
    assert "no more processes can be made); the last one is 2 cells back." in refusal.text


async def test_ending_a_session_drops_its_checkpoints(tmp_path: Path) -> None:
    backend = keeping_backend()
    async with keeping_runtime(tmp_path, backend) as runtime:
        await call(runtime, ["a = 1", "a = 2"])
    assert [made.usable for made in backend.kernels[0].checkpoints] == [False, False]  # type: ignore[attr-defined]


async def test_the_folder_is_asked_for_again_when_the_crash_took_it_back(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    backend = keeping_backend()
    async with keeping_runtime(tmp_path, backend) as runtime:
        await call(runtime, "a = 1", cwd="one")
        await call(runtime, CRASH, cwd="two")
        await call(runtime, "a = 2", cwd="two")
        kernel_in(session_of(runtime)).prospect = COSTLY
        await call(runtime, "a = 3", cwd="one")
        await call(runtime, CRASH, cwd="one")
        await call(runtime, "a = 4", cwd="one")
    folders = [request.cwd and Path(request.cwd).name for request in backend.kernels[0].requests]
    assert folders == ["one", "two", "two", "one", None, "one"]


async def test_a_folder_is_not_taken_for_reached_after_a_cell_that_failed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    backend = keeping_backend()
    async with keeping_runtime(tmp_path, backend) as runtime:
        await call(runtime, "fail", cwd="one")
        await call(runtime, "a = 1", cwd="one")
        await call(runtime, "a = 2", cwd="one")
    folders = [request.cwd and Path(request.cwd).name for request in backend.kernels[0].requests]
    assert folders == ["one", "one", None]


async def test_each_owner_hears_of_all_that_became_of_the_state(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        for owner in ("parent", "helper"):
            await call(runtime, "a = 1", owner=owner)
        await call(runtime, CRASH, owner="helper")
        kernel_in(session_of(runtime)).prospect = COSTLY
        await call(runtime, "a = 2", owner="helper")
        await call(runtime, CRASH, owner="helper")
        told = await call(runtime, "a", owner="parent")
        again = await call(runtime, "a", owner="parent")
    assert kernel_of(told).restore == Restore("exact", 1)
    assert kernel_of(again).state == "kept"


def test_a_loss_is_never_hidden_by_what_came_back() -> None:
    lost, back = StateNews.lost("It died"), StateNews.restored("It died", Restore("exact", 1, ("a",)))
    assert back.then(lost) == lost
    assert lost.then(back) == lost
    both = back.then(StateNews.restored("Again", Restore("by_value", 2, ("a", "b"))))
    assert both.restore == Restore("by_value", 3, ("a", "b"))


async def test_a_kernel_that_dies_right_after_its_cell_is_found_dead_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        kernel = kernel_in(session_of(runtime))

        def die() -> Outlook:
            kernel.die(ProcessExit(signal=signal.SIGKILL))
            return CHEAP

        monkeypatch.setattr(kernel, "outlook", die)
        finished = await call(runtime, "a = 2")
        monkeypatch.undo()
        after = await call(runtime, "a")
    assert (details(finished).outcome, kernel_of(finished).state) == ("ok", "kept")
    assert kernel_of(after).restore == Restore("exact", 1)


async def test_a_loss_is_not_hidden_by_what_came_of_the_second_try(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, checkpoint="off", retry_on_crash="once") as runtime:
        await call(runtime, "a = 1")
        crashed = await call(runtime, CRASH)
    assert (kernel_of(crashed).state, kernel_of(crashed).restore) == ("lost", None)
    first, second = crashed.text.splitlines()[:2]
    assert first.startswith("[State: lost] The kernel was ended by SIGSEGV.")
    assert second.startswith("[State: restored] The kernel was ended by SIGSEGV. No cell had finished before")


async def test_a_state_that_was_too_dear_to_keep_at_once_is_kept_when_nobody_waits(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        kernel_in(session).prospect = COSTLY
        await call(runtime, "a = 2")
        used = session.last_used
        await pool_of(runtime).keep_idle()
        assert session.last_used == used, "it is as idle as before"
        crashed = await call(runtime, CRASH)
        assert kernel_of(crashed).restore == Restore("exact", 0)
        assert await shown(runtime, "a") == "2"


async def test_an_idle_session_that_copies_much_is_not_kept_again(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path) as runtime:
        await call(runtime, "a = 1")
        session = session_of(runtime)
        kernel_in(session).prospect = Outlook(resident_mb=1000, faults=200_000)
        await call(runtime, "a = 2")
        await pool_of(runtime).keep_idle()
        crashed = await call(runtime, CRASH)
    assert kernel_of(crashed).restore == Restore("exact", 1)
