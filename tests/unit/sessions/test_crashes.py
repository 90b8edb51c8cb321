"""What a call says and does when the kernel dies under it, before it, or again and again."""

import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from pisces.kernels.base import Revival
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Die, Hang, Step, WaitForInterrupt
from pisces.model.events import Error, ProcessExit, Restore, Stream
from tests.fakes.runtimes import begin, call, details, kernel_of, pool_of, scripted_runtime

CRASH: list[Step] = [Stream("stdout", "dying\n"), Die(signal=signal.SIGSEGV)]


async def test_a_crash_is_told_with_its_signal_and_the_loss(tmp_path: Path) -> None:
    async with scripted_runtime({"ok": [], "crash": CRASH}, tmp_path) as runtime:
        await call(runtime, "ok")
        result = await call(runtime, "crash")
        after = await call(runtime, "ok")
    found = details(result)
    assert result.text.splitlines()[0].startswith("[State: lost] The kernel was ended by SIGSEGV. The state is lost")
    assert result.text.endswith("Command exited with code 139")
    assert (found.outcome, found.is_error, found.cells[0].exit_code) == ("crashed", True, 139)
    assert (kernel_of(result).generation, kernel_of(result).state) == (1, "lost")
    assert (kernel_of(after).generation, kernel_of(after).state) == (2, "kept")


@pytest.mark.parametrize(
    ("mode", "runs", "outcome"),
    [("safe", ["crash"], "crashed"), ("never", ["crash"], "crashed"), ("once", ["crash", "crash"], "ok")],
)
async def test_code_that_had_begun_runs_again_only_when_that_was_chosen(
    tmp_path: Path, mode: str, runs: list[str], outcome: str
) -> None:
    crashes: Iterator[list[Step]] = iter([CRASH, []])
    backend = MemoryBackend(lambda request, namespace: next(crashes))
    async with scripted_runtime(backend, tmp_path, retry_on_crash=mode) as runtime:
        result = await call(runtime, "crash")
    assert [request.code for kernel in backend.kernels for request in kernel.requests] == runs
    assert details(result).outcome == outcome
    assert kernel_of(result).state == "lost"
    assert ("run again" in result.text) == (mode == "once")


@pytest.mark.parametrize(("mode", "outcome"), [("safe", "ok"), ("once", "ok"), ("never", "crashed")])
async def test_code_that_had_not_begun_runs_in_another_kernel(tmp_path: Path, mode: str, outcome: str) -> None:
    backend = MemoryBackend({"ok": [], "x": []})

    async with scripted_runtime(backend, tmp_path, retry_on_crash=mode) as runtime:
        await call(runtime, "ok")
        (kernel,) = backend.kernels

        def die(update: object) -> None:
            kernel.die(ProcessExit(signal=signal.SIGKILL))

        result = await call(runtime, "x", on_update=die)  # It dies when the cell is announced, before it is sent.
    assert details(result).outcome == outcome
    assert kernel_of(result).state == "lost"
    assert [request.code for kernel in backend.kernels for request in kernel.requests].count("x") == (outcome == "ok")


async def test_a_kernel_that_died_between_calls_is_replaced_and_the_loss_is_told_once(tmp_path: Path) -> None:
    backend = MemoryBackend({"ok": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "ok")
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        first, second = await call(runtime, "ok"), await call(runtime, "ok")
    assert kernel_of(first).state == "lost"
    assert first.text.startswith("[State: lost] The kernel had ended since the last call.")
    assert kernel_of(second).state == "kept"


async def test_a_dead_kernel_is_cleared_away_between_calls_and_the_next_call_still_tells(tmp_path: Path) -> None:
    backend = MemoryBackend({"ok": []})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "ok")
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        await pool_of(runtime).recover_dead()
        (session,) = pool_of(runtime).sessions
        assert session.kernel is None
        assert kernel_of(await call(runtime, "ok")).state == "lost"


async def test_a_loss_that_a_cancelled_call_would_have_told_is_told_by_the_next(tmp_path: Path) -> None:
    backend = MemoryBackend({"ok": [], "long": [Stream("stdout", "begun\n"), WaitForInterrupt()]})
    async with scripted_runtime(backend, tmp_path) as runtime, anyio.create_task_group() as group:
        await call(runtime, "ok")
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        long = begin(group, runtime, "long")
        await long.watcher.prints("begun")
        long.scope.cancel()
        await long.ended.wait()
        result = await call(runtime, "ok")
    assert kernel_of(result).state == "lost"
    assert kernel_of(result).generation == 2, "the kernel of the cancelled call is still there"


async def test_two_fresh_kernels_that_die_at_once_are_the_last_until_a_reset(tmp_path: Path) -> None:
    backend = MemoryBackend({"ok": [], "crash": CRASH})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "crash")
        await call(runtime, "crash")
        refused = await call(runtime, "ok")
        again = await call(runtime, "ok")
        reset = await call(runtime, "ok", reset=True)
    assert refused.is_error
    assert refused.text.startswith("Error: Python kernel restarted too many times in this session\n")
    assert again.text == refused.text
    assert (details(reset).outcome, kernel_of(reset).state) == ("ok", "kept")
    assert len(backend.kernels) == 3


async def test_a_success_between_two_deaths_clears_the_count(tmp_path: Path) -> None:
    async with scripted_runtime({"ok": [], "crash": CRASH}, tmp_path) as runtime:
        for _ in range(3):
            await call(runtime, "ok")
            assert details(await call(runtime, "crash")).outcome == "crashed"
        assert details(await call(runtime, "ok")).outcome == "ok"


async def test_after_a_crash_the_text_does_not_claim_that_earlier_cells_persist(tmp_path: Path) -> None:
    async with scripted_runtime({"ok": [], "crash": CRASH}, tmp_path) as runtime:
        result = await call(runtime, ["ok", "crash", "ok"])
    assert result.text.endswith(
        "Cell 2 failed (exit code 139). The state of the cells before it is lost: run them again."
    )
    assert [record.status for record in details(result).cells] == ["complete", "error", "pending"]


async def test_a_loss_before_the_call_does_not_deny_what_its_own_cells_did(tmp_path: Path) -> None:
    backend = MemoryBackend({"ok": [], "bad": [Error("ValueError", "no", ("ValueError: no",))]})
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "ok")
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        result = await call(runtime, ["ok", "bad"])
    assert kernel_of(result).state == "lost"
    assert result.text.endswith("Earlier cells succeeded; their state persists. Fix only cell 2.")


async def test_a_state_that_came_back_is_told_with_what_is_missing(tmp_path: Path) -> None:
    backend = MemoryBackend({"ok": [], "crash": CRASH}, revival=Revival("by_value", missing=("conn (socket)",)))
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "ok")
        result = await call(runtime, "crash")
    first = result.text.splitlines()[0]
    assert first.startswith("[State: restored] The kernel was ended by SIGSEGV. The state was restored by value")
    assert first.endswith("to where the last finished cell had left it. Not back: conn (socket).")
    assert kernel_of(result).restore == Restore("by_value", 0, ("conn (socket)",))
    assert (kernel_of(result).generation, kernel_of(result).phase) == (2, "ready")


@pytest.mark.parametrize("noticed_by_the_pool", [True, False])
async def test_a_kernel_that_died_between_calls_comes_back_where_it_can(
    tmp_path: Path, noticed_by_the_pool: bool
) -> None:
    backend = MemoryBackend({"ok": []}, revival=Revival("exact"))
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "ok")
        backend.kernels[0].die(ProcessExit(signal=signal.SIGKILL))
        if noticed_by_the_pool:
            await pool_of(runtime).recover_dead()
        result, after = await call(runtime, "ok"), await call(runtime, "ok")
    assert result.text.startswith("[State: restored] The kernel had ended since the last call. ")
    assert (details(result).outcome, kernel_of(result).generation, len(backend.kernels)) == ("ok", 2, 1)
    assert (kernel_of(after).state, after.text) == ("kept", "(no output)")


async def test_a_retry_that_gets_no_kernel_in_time_reports_the_crash(tmp_path: Path) -> None:
    async def start() -> None:
        await (anyio.lowlevel.checkpoint() if len(backend.kernels) == 1 else anyio.sleep_forever())

    backend = MemoryBackend({"crash": CRASH}, on_start=start)
    async with scripted_runtime(backend, tmp_path, retry_on_crash="once") as runtime:
        result = await call(runtime, "crash", timeout=1)
    assert details(result).outcome == "crashed"
    assert "dying" in result.text


@pytest.mark.parametrize("last", [Die(signal=signal.SIGKILL), Hang()])
async def test_keep_going_does_not_go_on_after_a_crash_or_a_timeout(tmp_path: Path, last: Step) -> None:
    script: dict[str, list[Step]] = {"bad": [Error("ValueError", "no", ("ValueError: no",))], "last": [last], "x": []}
    async with scripted_runtime(script, tmp_path, interrupt_grace=0.1) as runtime:
        result = await call(runtime, ["bad", "last", "x"], keep_going=True, timeout=1)
    assert [record.status for record in details(result).cells] == ["error", "error", "pending"]
    assert details(result).outcome in {"crashed", "timeout"}
