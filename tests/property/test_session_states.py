"""Whatever is done to a session, it holds what a plain dictionary would, and what it says of its state is true."""

import tempfile
from pathlib import Path

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.errors import CheckpointError
from pisces.runtime import Runtime
from pisces.sessions.going_back import WentBack
from pisces.sessions.session import Session
from tests.fakes.assignments import CHEAP, COSTLY, CRASH, keeping_runtime, kernel_in, session_of, soon
from tests.fakes.runtimes import call, kernel_of, pool_of

NAMES = st.sampled_from(["one", "two"])
ASSIGN = st.tuples(st.just("assign"), st.sampled_from("abc"), st.booleans())
CRASHES = st.tuples(st.just("crash"), st.booleans())
UNDO = st.tuples(st.just("undo"), st.integers(1, 3))
CHECKPOINT = st.tuples(st.just("checkpoint"), NAMES)
RESTORE = st.tuples(st.just("restore"), NAMES)
RARE = st.sampled_from([("reset",), ("branch",)])
STEPS = st.one_of(ASSIGN, ASSIGN, ASSIGN, CRASHES, CRASHES, UNDO, UNDO, CHECKPOINT, RESTORE, RARE)

Names = dict[str, int]


class Model:
    """What a session should hold: the names after each of its finished cells, and under each checkpoint's name."""

    def __init__(self, past: list[Names] | None = None) -> None:
        self.past: list[Names] = past or [{}]
        self.before_reset: list[Names] = []
        self.named: dict[str, tuple[list[Names], list[Names]]] = {}

    def assign(self, name: str, value: int) -> None:
        self.past.append({**self.past[-1], name: value})

    def took_back(self, cells: int) -> None:
        assert 0 <= cells < len(self.past)
        self.past = self.past[: len(self.past) - cells]


class Play:
    """Takes the steps in a session and in its model, and compares the two after each."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._session_name = "default"
        self._model = Model()
        self._values = iter(range(1, 1000))
        self._branches = 0

    async def take(self, step: tuple[object, ...]) -> None:
        kind, *details = step
        await getattr(self, f"_{kind}")(*details)
        self._compare()

    @property
    def _session(self) -> Session:
        return session_of(self._runtime, self._session_name)

    def _compare(self) -> None:
        session = self._session
        assert session.position == len(self._model.past) - 1
        # A session that was taken back to its beginning has no kernel before its next call.
        assert (kernel_in(session).namespace if session.kernel else {}) == self._model.past[-1]
        assert {kept.name for kept in session.state.checkpoints.named} == self._model.named.keys()

    async def begin(self) -> None:
        await self._assign("a", True)

    async def _assign(self, name: str, cheap: bool) -> None:
        value = next(self._values)
        for session in pool_of(self._runtime).sessions:
            if session.key.id == self._session_name and session.kernel is not None:
                kernel_in(session).prospect = CHEAP if cheap else COSTLY
        await call(self._runtime, f"{name} = {value}", session=self._session_name)
        self._model.assign(name, value)

    async def _crash(self, waking: bool) -> None:
        """A crash; the newest checkpoint may be found not to wake."""
        newest = self._session.state.checkpoints.backwards()[:1]
        if newest and not waking and not newest[0].name:
            newest[0].checkpoint.broken = True  # type: ignore[attr-defined]
        kernel = kernel_of(await call(self._runtime, CRASH, session=self._session_name))
        if kernel.state == "lost":
            assert kernel.restore is None
            self._model.past = [{}]
        else:
            assert kernel.state == "restored"
            assert kernel.restore is not None
            self._model.took_back(kernel.restore.cells_lost)
        await self._assign("a", True)  # So that two crashes are never the death of two fresh kernels in a row.

    async def _undo(self, steps: int) -> None:
        went = await self._going(self._session.undo(soon(), steps=steps, owner="runtime"))
        if went is not None:
            assert went.cells == steps - went.reset
            self._model.took_back(went.cells)
            if went.reset:
                assert self._model.past == [{}]
                self._model.past, self._model.before_reset = list(self._model.before_reset), []

    async def _checkpoint(self, name: str) -> None:
        await self._session.checkpoint(name, soon())
        self._model.named[name] = (list(self._model.past), list(self._model.before_reset))

    async def _restore(self, name: str) -> None:
        before = len(self._model.past)
        went = await self._going(self._session.restore_to(name, soon(), owner="runtime"))
        assert (went is None) == (name not in self._model.named)
        if went is not None:
            past, before_reset = self._model.named[name]
            self._model.past, self._model.before_reset = list(past), list(before_reset)
            assert went.cells == before - len(self._model.past)

    async def _reset(self) -> None:
        if len(self._model.past) > 1:
            self._model.before_reset = list(self._model.past)
        self._model.past = [{}]
        value = next(self._values)
        await call(self._runtime, f"a = {value}", session=self._session_name, reset=True)
        self._model.assign("a", value)

    async def _branch(self) -> None:
        """Go on in a branch, with the model of its origin; what it began with stays as it is in the origin."""
        origin, self._branches = self._session, self._branches + 1
        name = f"branch-{self._branches}"
        await pool_of(self._runtime).branch(origin, name, "runtime", soon())
        assert kernel_in(origin).namespace == self._model.past[-1]
        self._session_name, self._model = name, Model(self._model.past)

    async def _going(self, way: object) -> WentBack | None:
        try:
            return await way  # type: ignore[misc, no-any-return]
        except CheckpointError:
            return None


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, min_size=8, max_size=30))
def test_a_session_agrees_with_a_dictionary_whatever_is_done_to_it(steps: list[tuple[object, ...]]) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with keeping_runtime(Path(folder)) as runtime:
                game = Play(runtime)
                await game.begin()
                for step in steps:
                    await game.take(step)

    anyio.run(play)
