"""The lock between processes, in every order of events: never two holders, never a lock that is lost for good.

The actors are views of the same file in one process: `flock` keeps open files apart, not processes, so they exclude
each other as processes do. Death is the closing of the file, which is what the system does then.
"""

import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pisces.kernels.gateway.lock_file import STALE_SECONDS, LockFile, LockLost

ACTORS = 3
actors = st.integers(0, ACTORS - 1)


class LockMachine(RuleBasedStateMachine):
    """What is true by the rules of the lock, beside what the files say."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name, "gateway.lock")
        self._views = [LockFile(self._path) for _ in range(ACTORS)]
        self._now = 1000.0
        self._holder: int | None = None
        self._last_beat = 0.0
        self._believes: set[int] = set()
        """Who got the lock and has not let go of it, whether it has been taken since or not."""

    def teardown(self) -> None:
        for view in self._views:
            view.release()
        self._folder.cleanup()

    @rule(seconds=st.sampled_from([0.0, 1.0, STALE_SECONDS - 1, STALE_SECONDS, STALE_SECONDS + 1]))
    def time_passes(self, seconds: float) -> None:
        self._now += seconds

    @rule(actor=actors)
    def try_acquire(self, actor: int) -> None:
        if actor in self._believes:
            return
        stale = self._now - self._last_beat > STALE_SECONDS
        free = self._holder is None or stale
        assert self._views[actor].try_acquire(self._now) is free
        if free:
            self._holder, self._last_beat = actor, self._now
            self._believes.add(actor)

    @rule(actor=actors)
    def beat(self, actor: int) -> None:
        try:
            self._views[actor].beat(self._now)
        except LockLost:
            assert actor != self._holder
        else:
            assert actor == self._holder
            self._last_beat = self._now

    @rule(actor=actors)
    def commit(self, actor: int) -> None:
        done: list[int] = []
        try:
            assert self._views[actor].try_commit(lambda: done.append(actor))
        except LockLost:
            assert not done
        assert bool(done) is (actor == self._holder)

    @rule(actor=actors)
    def let_go_or_die(self, actor: int) -> None:
        self._views[actor].release()
        self._believes.discard(actor)
        if actor == self._holder:
            self._holder = None

    @precondition(lambda self: self._holder is not None)
    @rule()
    def ask_who_it_is(self) -> None:
        held = self._views[0].holder()
        assert held is not None
        assert held.beat == self._last_beat

    @invariant()
    def only_the_holder_holds(self) -> None:
        assert [view.holds() for view in self._views] == [actor == self._holder for actor in range(ACTORS)]


TestLock = LockMachine.TestCase
