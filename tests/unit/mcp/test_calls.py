"""Calls of clients, on scripted kernels: how they are stopped, and how many there may be."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Die, Hang, Step, WaitFor, WaitForInterrupt
from pisces.mcp import calls as calls_module
from pisces.mcp import progress
from pisces.mcp.calls import Calls
from pisces.mcp.peer import Peer
from pisces.model.events import Stream
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.registry import DEFAULT_TOOLS
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import details, kernel_of, pool_of, scripted_runtime

ONE = Peer("mcp one", "one", stays=False)
OTHER = Peer("mcp other", "other", stays=False)
HERE = Peer("mcp", "default", stays=True)


@pytest.fixture
def go() -> anyio.Event:
    """Lets the cell `wait` go on."""
    return anyio.Event()


@pytest.fixture
async def runtime(tmp_path: Path, go: anyio.Event) -> AsyncIterator[Runtime]:
    """Kernels that do what the cell is called."""
    script: dict[str, list[Step]] = {
        "say": [Stream("stdout", "said\n")],
        "wait": [Stream("stdout", "begun\n"), WaitFor(go)],
        "obey": [Stream("stdout", "begun\n"), WaitForInterrupt()],
        "hang": [Stream("stdout", "begun\n"), Hang()],
        "die later": [WaitFor(go), Die(signal=11)],
    }
    async with scripted_runtime(MemoryBackend(script), tmp_path, interrupt_grace=0.1) as runtime:
        yield runtime


@pytest.fixture
def calls(runtime: Runtime) -> Calls:
    return Calls(runtime, DEFAULT_TOOLS)


async def unheard(value: float, total: float | None, words: str) -> None:
    """A client that asks for no progress."""


async def cell(calls: Calls, code: str, peer: Peer = HERE, *, hung_up: anyio.Event | None = None) -> ToolResult:
    with anyio.fail_after(PATIENCE):
        return await calls.call("python", {"code": code}, peer, unheard, hung_up)


async def busy(runtime: Runtime) -> None:
    """Wait until a cell runs."""
    await eventually(lambda: any(session.busy for session in pool_of(runtime).sessions))


async def test_a_client_that_hangs_up_stops_its_cell(calls: Calls, runtime: Runtime) -> None:
    hung_up = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(cell_until, calls, hung_up)
        await busy(runtime)
        hung_up.set()
    assert (await cell(calls, "say")).text == "said"


async def cell_until(calls: Calls, hung_up: anyio.Event) -> None:
    result = await cell(calls, "obey", hung_up=hung_up)
    assert details(result).outcome == "interrupted"


async def test_a_cancelled_call_comes_back_when_its_cell_has_settled(calls: Calls, runtime: Runtime) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(cell, calls, "obey")
        await busy(runtime)
        group.cancel_scope.cancel()
    assert not any(session.busy for session in pool_of(runtime).sessions)
    after = await cell(calls, "say")
    assert (after.text, kernel_of(after).generation) == ("said", 1)


async def test_what_a_cancelled_call_cost_is_told_once_to_the_call_that_waited_behind_it(
    calls: Calls, runtime: Runtime
) -> None:
    told: list[ToolResult] = []

    async def waiting() -> None:
        told.append(await cell(calls, "say"))

    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(within, scope, calls, "hang")
        await busy(runtime)
        group.start_soon(waiting)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
    assert told[0].text.startswith("[State: ")
    assert "did not stop within 0.1 seconds" in told[0].text
    assert (await cell(calls, "say")).text == "said"


async def test_a_job_tells_of_the_state_itself_though_its_client_has_hung_up_since(
    calls: Calls, runtime: Runtime, go: anyio.Event
) -> None:
    hung_up = anyio.Event()
    await calls.call("python", {"code": "die later", "background": True}, HERE, None, hung_up)
    hung_up.set()
    go.set()
    waited = await calls.call("session", {"action": "wait", "job": "job-1"}, HERE, None, None)
    assert "[State: " in waited.text
    assert (await cell(calls, "say")).text == "said"


async def within(scope: anyio.CancelScope, calls: Calls, code: str) -> None:
    with scope:
        await cell(calls, code)


async def test_one_client_has_so_many_calls_at_once_and_takes_no_room_from_another(
    calls: Calls, go: anyio.Event, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls_module, "_MOST_AT_ONCE", 3)
    results: list[ToolResult] = []

    async def one(code: str) -> None:
        results.append(await cell(calls, code, ONE))

    async with anyio.create_task_group() as group:
        for code in ("wait", "say", "say"):
            group.start_soon(one, code)
        await busy(runtime)
        await anyio.wait_all_tasks_blocked()
        refused = await cell(calls, "say", ONE)
        assert (await cell(calls, "say", OTHER)).text == "said"
        go.set()
    assert refused.text == "Error: 3 calls are waiting already. Wait for some of them, then try again."
    assert refused.is_error
    assert [result.is_error for result in results] == [False] * 3
    assert (await cell(calls, "say", ONE)).text == "said"


async def test_progress_that_cannot_be_told_does_not_stop_the_cell(
    calls: Calls, go: anyio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SILENCE", progress._NEWS)
    tried = anyio.Event()

    async def broken(value: float, total: float | None, words: str) -> None:
        tried.set()
        raise ConnectionError("gone")

    async def let_go() -> None:
        await tried.wait()
        go.set()

    async with anyio.create_task_group() as group:
        group.start_soon(let_go)
        with anyio.fail_after(PATIENCE):
            result = await calls.call("python", {"code": "wait"}, HERE, broken, None)
    assert (result.text, result.is_error) == ("begun", False)


@pytest.mark.parametrize("peer", [ONE, HERE])
async def test_a_client_is_there_as_long_as_its_connection_or_its_calls(
    calls: Calls, runtime: Runtime, peer: Peer
) -> None:
    await cell(calls, "say", peer)
    (session,) = pool_of(runtime).sessions
    assert session.key.id == peer.default_session
    assert session.owners == {peer.owner: peer.stays}


@pytest.mark.parametrize(
    ("tools", "hint"),
    [
        (("python",), "Use output({id}) in a cell"),
        (("python", "session"), "Use the session tool "),
        (("bash",), "Run `pisces artifact {id}`"),
    ],
)
async def test_the_way_to_a_whole_output_is_one_that_the_client_has(
    runtime: Runtime, tools: tuple[str, ...], hint: str
) -> None:
    assert Calls(runtime, tools).read_with.startswith(hint)
