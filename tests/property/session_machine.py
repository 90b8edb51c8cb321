"""A state machine over real sessions: whatever is done to them, through the tools, they agree with the model.

`World` holds the runtime, in a thread of its own, because the machine's rules are plain functions. Every rule is one
step: it does something to one session, compares what the result says with what the model says, and then looks at
everything that every session knows.
"""

import ast
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from pisces.kernels.deadline import Deadline
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails, SessionInfo
from pisces.runtime import Runtime
from pisces.sessions import pool as pool_module
from pisces.sessions.session import Session
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE, eventually, run
from tests.fakes.runtimes import call, details, kernel_of, pool_of, runtime_on
from tests.property.session_model import Moved, Refused, Saved, SessionModel

_T = TypeVar("_T")

NAMES = "abcde"
LOOK = f"print({{name: value for name, value in globals().items() if name in {NAMES!r}}})"
GRACE = 0.1
ENDS = {
    "segfault": "import ctypes; ctypes.string_at(0)",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "exit": "import os; os._exit(7)",
    "abort": "import os; os.abort()",
}
DEAF = """
import time
while True:
    try:
        print('ready', flush=True)
        time.sleep(60)
    except BaseException:
        pass
"""

slots = st.sampled_from(("one", "two", "three", "four"))
letters = st.sampled_from(NAMES)
numbers = st.integers(0, 99)
marks = st.sampled_from([f"mark {number}" for number in range(10)])


class World:
    """A runtime whose sessions the machine acts on, seen from outside its event loop."""

    def __init__(self, portal: BlockingPortal, runtime: Runtime) -> None:
        self._portal = portal
        self._runtime = runtime
        self.steps = 0
        self.machines = 0

    def python(self, session: str, code: str | list[str], **params: Any) -> ToolResult:
        """Run cells."""
        return self._do(lambda: call(self._runtime, code, session=session, **params))

    def session(self, action: str, **params: Any) -> ToolResult:
        """Use the `session` tool."""
        context = CallContext(owner="runtime")
        return self._do(lambda: self._runtime.tool("session", {"action": action, **params}, context=context))

    def listed(self) -> dict[str, SessionInfo]:
        """The sessions that there are, as the tool tells of them."""
        found = self.session("list").details
        assert isinstance(found, SessionDetails)
        return {info.id: info for info in found.sessions}

    def stop_deaf(self, session: str) -> ToolResult:
        """Run a cell that ignores interrupts, and ask for its end as soon as it runs."""

        async def run_and_stop() -> ToolResult:
            abort = anyio.Event()
            return await call(
                self._runtime,
                DEAF,
                session=session,
                abort=abort,
                on_update=lambda update: abort.set() if "ready" in update.tail else None,
            )

        return self._do(run_and_stop)

    def values_in(self, session: str) -> dict[str, Any]:
        """What a session really knows: asked of its kernel, by a cell that nobody counts."""

        async def look() -> dict[str, Any]:
            found = self._session(session)
            async with found.turn(Deadline.after(PATIENCE)):
                if found.kernel is None:
                    return {}
                ran = await run(found.kernel, LOOK, silent=True, store_history=False)
            values: dict[str, Any] = ast.literal_eval(ran.stdout)
            return values

        return self._do(look)

    def end_kernel(self, session: str) -> None:
        """Kill the process behind a session, between two calls."""

        async def kill() -> None:
            os.kill(await self._pid_of(self._session(session)), signal.SIGKILL)

        self._do(kill)

    def run_and_lose_it(self, session: str, code: str) -> ToolResult:
        """Run a cell, then kill the process that keeps the state of after it."""

        async def run_and_kill() -> ToolResult:
            found = self._session(session)
            result = await call(self._runtime, code, session=session)
            (kept, *_) = found.state.checkpoints.backwards()
            assert isinstance(kept.checkpoint, NativeCheckpoint)
            asleep = await kept.checkpoint.sleeper.asleep(Deadline.after(PATIENCE))
            os.kill(asleep.pid, signal.SIGKILL)
            await eventually(lambda: not kept.checkpoint.usable)
            return result

        return self._do(run_and_kill)

    async def _pid_of(self, session: Session) -> int:
        assert session.kernel is not None
        ran = await run(session.kernel, "print(__import__('os').getpid())", silent=True, store_history=False)
        return int(ran.stdout)

    def _session(self, name: str) -> Session:
        (found,) = (session for session in pool_of(self._runtime).sessions if session.key.id == name)
        return found

    def _do(self, what: Callable[[], Awaitable[_T]]) -> _T:
        async def bounded() -> _T:
            with anyio.fail_after(PATIENCE):
                return await what()

        return self._portal.call(bounded)


@contextmanager
def world_on(interpreter: str, folder: Path) -> Iterator[World]:
    """A world whose kernels are processes of this interpreter, and always keep their state."""
    # What the pool does by itself every few seconds, such as keeping a state late, would come between two steps.
    with mock.patch.object(pool_module, "_LIVENESS_SECONDS", 3600.0):
        runtime = runtime_on(interpreter, folder, checkpoint="always", interrupt_grace=GRACE)
        with start_blocking_portal("asyncio") as portal, portal.wrap_async_context_manager(runtime):
            yield World(portal, runtime)


class SessionMachine(RuleBasedStateMachine):
    """Up to four sessions at once, each with its model."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._models: dict[str, SessionModel] = {}
        world.machines += 1
        self._prefix = f"{world.machines} "

    @rule(slot=slots, name=letters, values=st.lists(numbers, min_size=1, max_size=4))
    def assign(self, slot: str, name: str, values: list[int]) -> None:
        """Several cells in one call: each is one that can be undone."""
        model = self._model(slot)
        self._expect_kept(self._python(slot, [f"{name} = [{value}]" for value in values]))
        for value in values:
            model.values[name] = [value]
            model.cell_finished()

    @rule(slot=slots, name=letters)
    def delete(self, slot: str, name: str) -> None:
        model = self._model(slot)
        self._expect_kept(self._python(slot, f"globals().pop({name!r}, None)"))
        model.values.pop(name, None)
        model.cell_finished()

    @rule(slot=slots, name=letters, value=numbers)
    def mutate(self, slot: str, name: str, value: int) -> None:
        """Change an object in place; without one it is an error, and the cell counts none the less."""
        model = self._model(slot)
        result = self._python(slot, f"{name}.append({value})")
        assert details(result).outcome == ("ok" if name in model.values else "error"), result.text
        assert kernel_of(result).state == "kept"
        if name in model.values:
            model.values[name].append(value)
        model.cell_finished()

    @rule(slot=slots, end=st.sampled_from(sorted(ENDS)), name=letters, value=numbers)
    def crash(self, slot: str, end: str, name: str, value: int) -> None:
        """A cell that finishes, then one that ends the process: only what that one did is gone."""
        model = self._model(slot)
        code = f"{name} = ['never kept']\n{ENDS[end]}"
        result = self._python(slot, [f"{name} = [{value}]", code])
        assert details(result).outcome == "crashed", result.text
        model.values[name] = [value]
        model.cell_finished()
        self._expect_back(result, model.crash())

    @rule(slot=slots, end=st.sampled_from([*sorted(ENDS), "deaf", "deaf", "timeout"]))
    def crash_at_once(self, slot: str, end: str) -> None:
        model = self._model(slot)
        if model.frail and not model.way:
            return  # A third one in a row is refused; that is shown elsewhere.
        if end == "deaf":
            result = self._world.stop_deaf(self._name(slot))
        elif end == "timeout":
            result = self._python(slot, DEAF, timeout=1)
        else:
            result = self._python(slot, ENDS[end])
        expected = {"deaf": "interrupted", "timeout": "timeout"}.get(end, "crashed")
        assert details(result).outcome == expected, result.text
        self._expect_back(result, model.crash())

    @rule(slot=slots)
    def die_between_calls(self, slot: str) -> None:
        model = self._models.get(slot)
        if model is None or model.position == 0:
            return
        self._world.end_kernel(self._name(slot))
        lost = model.crash()
        result = self._python(slot, "0")
        assert details(result).outcome == "ok", result.text
        self._expect_back(result, lost)
        model.cell_finished()

    @rule(slot=slots, name=letters, value=numbers)
    def lose_a_checkpoint(self, slot: str, name: str, value: int) -> None:
        """The process of the newest checkpoint dies: nobody notices before it is needed."""
        model = self._models.get(slot)
        if model is None or model.position == 0:
            return
        self._expect_kept(self._world.run_and_lose_it(self._name(slot), f"{name} = [{value}]"))
        model.values[name] = [value]
        model.cell_finished()
        model.forget(model.way[-1])

    @rule(slot=slots, steps=st.integers(1, 10))
    def undo(self, slot: str, steps: int) -> None:
        model = self._models.get(slot)
        result = self._session("undo", slot, steps=steps)
        self._expect_moved(result, None if model is None else lambda: model.undo(steps))
        if not result.is_error:
            assert "were not taken back" in result.text

    @rule(slot=slots, name=st.none() | marks)
    def restore(self, slot: str, name: str | None) -> None:
        model = self._models.get(slot)
        result = self._session("restore", slot, **({} if name is None else {"name": name}))
        self._expect_moved(result, None if model is None else lambda: model.restore(name))

    @rule(slot=slots, names=st.lists(marks, min_size=1, max_size=4))
    def checkpoint(self, slot: str, names: list[str]) -> None:
        model = self._models.get(slot)
        for name in names:
            result = self._session("checkpoint", slot, name=name)
            self._expect_done(result, None if model is None else lambda name=name: model.keep(name))  # type: ignore[misc]

    @rule(slot=slots, name=marks)
    def drop(self, slot: str, name: str) -> None:
        model = self._models.get(slot)
        result = self._session("checkpoint", slot, name=name, drop=True)
        self._expect_done(result, None if model is None else lambda: model.drop(name))

    @rule(slot=slots, to=slots)
    def branch(self, slot: str, to: str) -> None:
        model, taken = self._models.get(slot), to in self._models
        result = self._session("branch", slot, to=self._name(to))
        assert result.is_error == (model is None or taken), result.text
        if model is not None and not taken:
            self._models[to] = model.branch()

    @rule(slot=slots, name=letters, value=numbers)
    def reset(self, slot: str, name: str, value: int) -> None:
        model = self._model(slot)
        self._expect_kept(self._python(slot, f"{name} = [{value}]", reset=True))
        model.reset()
        model.values[name] = [value]
        model.cell_finished()

    @rule(slot=slots)
    def close(self, slot: str) -> None:
        result = self._session("close", slot)
        assert result.is_error == (slot not in self._models), result.text
        self._models.pop(slot, None)

    @invariant()
    def every_session_agrees_with_its_model(self) -> None:
        self._world.steps += 1
        listed = self._world.listed()
        assert set(listed) == {self._name(slot) for slot in self._models}
        for slot, model in self._models.items():
            name = self._name(slot)
            assert self._world.values_in(name) == model.values
            assert told_of(listed[name]) == expected_of(model)

    def teardown(self) -> None:
        """Whatever is there, also after a failure: the next run of the machine is to find nothing."""
        for name in self._world.listed():
            self._world.session("close", session=name)
        assert self._world.listed() == {}

    def _name(self, slot: str) -> str:
        return self._prefix + slot

    def _model(self, slot: str) -> SessionModel:
        """For a call that makes the session where there is none."""
        return self._models.setdefault(slot, SessionModel())

    def _python(self, slot: str, code: str | list[str], **params: Any) -> ToolResult:
        return self._world.python(self._name(slot), code, **params)

    def _session(self, action: str, slot: str, **params: Any) -> ToolResult:
        return self._world.session(action, session=self._name(slot), **params)

    def _expect_kept(self, result: ToolResult) -> None:
        assert details(result).outcome == "ok", result.text
        assert kernel_of(result).state == "kept", result.text

    def _expect_back(self, result: ToolResult, lost: int | None) -> None:
        """What a result says about a death that cost so many finished cells, or everything."""
        kernel = kernel_of(result)
        if lost is None:
            assert (kernel.state, kernel.restore) == ("lost", None), result.text
            return
        assert kernel.restore is not None, result.text
        assert (kernel.state, kernel.restore.how, kernel.restore.missing) == ("restored", "exact", ()), result.text
        assert kernel.restore.cells_lost == lost, result.text

    def _expect_done(self, result: ToolResult, do: Callable[[], Any] | None) -> Any:
        """The tool refuses exactly what the model refuses, which is everything where there is no session."""
        try:
            done = None if do is None else do()
        except Refused:
            do = None
            done = None
        assert result.is_error == (do is None), result.text
        return done

    def _expect_moved(self, result: ToolResult, do: Callable[[], Moved] | None) -> None:
        moved = self._expect_done(result, do)
        if moved is None:
            return
        assert isinstance(result.details, SessionDetails)
        assert (result.details.cells_taken_back, result.details.how == "fresh") == (moved.cells, moved.fresh)
        if result.details.action == "undo":
            assert ("This is the end" in result.text) == moved.end, result.text


def run_machine(world: World, how: settings) -> None:
    """Have the sessions of this world go through many lives."""

    class MachineInWorld(SessionMachine):
        def __init__(self) -> None:
            super().__init__(world)

    run_state_machine_as_test(MachineInWorld, settings=how)


def told_of(info: SessionInfo) -> tuple[int, int, list[tuple[str, int]]]:
    """Where a session says it stands, and what it says it keeps."""
    return info.cells, info.automatic_checkpoints, [(mark.name, mark.cells) for mark in info.checkpoints]


def expected_of(model: SessionModel) -> tuple[int, int, list[tuple[str, int]]]:
    """The same of a model."""

    def mark(saved: Saved) -> tuple[str, int]:
        return saved.name, saved.position

    return model.position, len(model.automatic), [mark(saved) for saved in model.named]
