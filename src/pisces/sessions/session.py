"""One session: a queue of calls in front of one kernel at a time, and the truth about what became of the last one."""

import time
from collections.abc import Callable
from typing import Protocol

import anyio
import msgspec

from pisces.errors import SessionClosed, TooManyRestarts
from pisces.kernels.base import Backend, Kernel, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.model.events import KernelState, Restore
from pisces.model.results import KernelInfo, Phase
from pisces.sessions.recovery import DIED_BETWEEN_CALLS, StateNews, bring_back
from pisces.sessions.stop import StopSignal

_CLOSE_WAIT = 3.0
_MAX_DEATHS = 2


class SessionKey(msgspec.Struct, frozen=True):
    """What makes two calls use the same kernel."""

    id: str
    cwd: str
    interpreter: str


class KernelSlots(Protocol):
    """The pool, as a session sees it: where leave to have a kernel comes from."""

    async def acquire_slot(self, session: "Session", deadline: Deadline) -> None: ...
    def release_slot(self, session: "Session") -> None: ...
    def session_idle(self) -> None: ...


class Session:
    """Calls queue here and run one at a time. Whatever touches the kernel has its turn."""

    def __init__(
        self, key: SessionKey, backend: Backend, launch: Callable[[str], LaunchSpec], slots: KernelSlots
    ) -> None:
        self.key = key
        self.kernel: Kernel | None = None
        self.generation = 0
        self.folder = key.cwd
        """The folder that was last asked for: where a fresh kernel begins."""
        self.active_stop: StopSignal | None = None
        """Stops the call that has its turn."""
        self.last_used = time.monotonic()
        self.owners: dict[str, bool] = {}
        """Who holds the session, and whether they are connected at the moment."""
        self.resetting = False
        self._news: dict[str, StateNews] = {}
        """What became of the state since an owner was last told of it, by owner; told with its next call."""
        self._backend = backend
        self._launch = launch
        self._slots = slots
        self._turns = anyio.Lock(fast_acquire=True)
        self._closing = False
        self._phase: Phase = "provisioning"
        self._deaths = 0
        self._finished_a_cell = False

    @property
    def busy(self) -> bool:
        """Whether a call runs or waits here."""
        statistics = self._turns.statistics()
        return statistics.locked or statistics.tasks_waiting > 0

    @property
    def closed(self) -> bool:
        """Whether it takes no more calls."""
        return self._closing

    async def enter_turn(self) -> None:
        """Wait for all calls before this one, then have the session to oneself until `leave_turn`."""
        if self._closing:
            raise self._closed_error()
        await self._turns.acquire()
        if self._closing:
            self._turns.release()
            raise self._closed_error()
        self.last_used = time.monotonic()

    def enter_turn_at_once(self) -> bool:
        """Have the turn if nobody has it or waits for it; False if one must wait."""
        if self._closing or self.busy:
            return False
        self._turns.acquire_nowait()
        self.last_used = time.monotonic()
        return True

    def leave_turn(self) -> None:
        """Let the next call in."""
        self.active_stop = None
        self.last_used = time.monotonic()
        self._turns.release()
        self._slots.session_idle()

    async def has_kernel(self) -> bool:
        """Whether there is a living kernel."""
        return self.kernel is not None and await self.kernel.is_alive()

    async def ensure_kernel(self, deadline: Deadline) -> Kernel:
        """A living kernel: the one there is, also when it had to be brought back, or a fresh one in its place."""
        await self.recover_if_dead()
        if self.kernel is not None:
            return self.kernel
        if self._deaths >= _MAX_DEATHS:
            raise TooManyRestarts
        await self._slots.acquire_slot(self, deadline)
        kernel = self._backend.kernel(self._launch(self.folder))
        self._phase = "provisioning"
        try:
            await kernel.start(deadline)
        except BaseException:
            self._slots.release_slot(self)
            raise
        self.kernel = kernel
        self.generation += 1
        self._finished_a_cell = False
        self._phase = "ready"
        return kernel

    async def reset(self, deadline: Deadline) -> None:
        """Have a fresh kernel, and forget every trouble with the old one."""
        self.resetting = True
        try:
            await self.end_kernel()
            self._deaths = 0
            self._news.clear()
            await self.ensure_kernel(deadline)
        finally:
            self.resetting = False

    async def end_kernel(self) -> None:
        """End the kernel in good order."""
        kernel, self.kernel = self.kernel, None
        if kernel is not None:
            self._phase = "shutdown"
            with anyio.CancelScope(shield=True):
                await kernel.shutdown()
            self._slots.release_slot(self)

    async def recover_if_dead(self) -> None:
        """See to a kernel that died between two calls."""
        if self.kernel is not None and not await self.kernel.is_alive():
            await self.recover(DIED_BETWEEN_CALLS)

    async def recover(self, why: str) -> None:
        """The kernel is dead: it comes back from a checkpoint, or is cleared away. Each owner hears which, and why."""
        assert self.kernel is not None
        news = await bring_back(self.kernel, why)
        if news is not None:
            self.generation += 1
            self._phase = "ready"
            self.announce(news)
            return
        if not self._finished_a_cell:
            self._deaths += 1
        self.announce(StateNews.lost(why))
        await self.end_kernel()

    def cell_began(self) -> None:
        """A cell runs."""
        self._phase = "executing"

    def cell_stopping(self) -> None:
        """The running cell has been interrupted and has not settled yet."""
        self._phase = "interrupted"

    def cell_finished(self) -> None:
        """A cell came to its own end, whatever its result: this kernel works."""
        self._phase = "ready"
        self._finished_a_cell = True
        self._deaths = 0

    def announce(self, news: StateNews) -> None:
        """Something became of the state: each owner hears of it with its next call, of the first thing first."""
        for owner in self.owners:
            self._news.setdefault(owner, news)

    def leave_news(self, owner: str, news: StateNews) -> None:
        """This owner alone is to hear of it with its next call."""
        self._news[owner] = news

    def take_news(self, owner: str) -> StateNews | None:
        """What became of the state since this owner was last told; told once."""
        return self._news.pop(owner, None)

    def info(self, state: KernelState, restore: Restore | None = None) -> KernelInfo:
        """The kernel, for the reader of a result."""
        return KernelInfo(
            backend=self._backend.name,
            interpreter=self.key.interpreter,
            generation=self.generation,
            phase=self._phase,
            state=state,
            restore=restore,
        )

    async def close(self, *, wait: float = _CLOSE_WAIT) -> None:
        """Refuse new calls, give the running one `wait` seconds, then interrupt it, then end the kernel."""
        self._closing = True
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(wait) as patience:
                await self._turns.acquire()
            if patience.cancelled_caught:
                if self.active_stop is not None:
                    self.active_stop.ask()
                await self._turns.acquire()
            try:
                await self.end_kernel()
            finally:
                self._turns.release()

    def _closed_error(self) -> SessionClosed:
        return SessionClosed(f"Session {self.key.id!r} has been closed", hint="Use another session name.")
