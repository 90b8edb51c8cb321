"""One session: a queue of calls in front of one kernel at a time, and the truth about what became of the last one.

Above is the pool, and `run`, which has the turn while it runs cells. Below are `turns` (the queue), `state` (where the
session stands), `recovery` and `going_back`, which take it somewhere else.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

import anyio
import msgspec

from pisces.errors import (
    CheckpointError,
    DeadlineExceeded,
    InvalidCall,
    KernelError,
    KernelGone,
    KernelStartError,
    TooManyRestarts,
    without_descriptor,
)
from pisces.journal.session_journal import Journals
from pisces.kernels.base import Checkpointing, Completing, Inspecting, Kernel, LaunchSpec, Mortal
from pisces.kernels.completing import among
from pisces.kernels.deadline import Deadline
from pisces.model.completion import Completion
from pisces.model.events import KernelState, Restore, Variable, VariableChanges
from pisces.model.kernel_info import KernelInfo, Phase
from pisces.sessions.checkpoints import Kept
from pisces.sessions.going_back import WentBack, go_back, undo_target
from pisces.sessions.kernel_records import KernelRecords
from pisces.sessions.kernel_source import KernelSource, end_left
from pisces.sessions.key import SessionKey
from pisces.sessions.origin import Origin
from pisces.sessions.owner_news import OwnerNews
from pisces.sessions.recovery import StateNews, bring_back, died_between_calls
from pisces.sessions.state import Place, SessionState
from pisces.sessions.terms import Terms
from pisces.sessions.tool_door import ToolDoor
from pisces.sessions.turns import Turns
from pisces.sessions.variables import Dropped, VariableList

_CLOSE_WAIT = 3.0
_KEEP_CAP = 5.0
"""How long a reset waits for a checkpoint of what it drops: most are there already, or take milliseconds."""
_MAX_DEATHS = 2

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class KernelSlots(Protocol):
    """The pool, as a session sees it: where leave to have a kernel comes from."""

    async def acquire_slot(self, session: "Session", deadline: Deadline) -> None: ...
    async def close_idle(self, session: "Session") -> None: ...
    async def end_unused(self, session: "Session") -> bool: ...
    def release_slot(self, session: "Session") -> None: ...
    def session_idle(self) -> None: ...


class Session(Turns, OwnerNews):
    """Calls queue here and run one at a time. Whatever touches the kernel has its turn."""

    def __init__(
        self,
        key: SessionKey,
        terms: Terms,
        slots: KernelSlots,
        *,
        journals: Journals,
        records: KernelRecords,
        place: Place | None = None,
    ) -> None:
        Turns.__init__(self, key.id, slots.session_idle)
        OwnerNews.__init__(self)
        self.key = key
        self.kernel: Kernel | None = None
        self.generation = 0
        self.state = SessionState(terms.rule, place or Place(folder=key.cwd))
        self.origin: Origin | None = None
        self.is_new = False
        """Whether a call made it under a name that no session had, and no result has said so yet."""
        self.is_separate = False
        """Whether a reset made it for one owner of a session that others share, and no result has said so yet."""
        self.journal = journals.new(
            key.id,
            cwd=key.cwd,
            interpreter=key.interpreter,
            backend=terms.backend.name,
            kernelspec=key.kernelspec,
        )
        self.resetting = False
        self.dropped: Dropped | None = None
        """What the last reset took out of it; None if there was nothing to lose."""
        self.runs_clean_for: SessionKey | None = None
        """The session beside which this one runs notebooks from scratch; None once any other call wants it."""
        self.terms = terms
        """How kernels of this session are had."""
        self.source = KernelSource(key, terms, records)
        self.door = ToolDoor(terms.bridge)
        self._slots = slots
        self._phase: Phase = "provisioning"
        self._deaths = 0
        self._finished_a_cell = False

    @property
    def position(self) -> int:
        """How many cells have finished."""
        return self.state.position

    @property
    def folder(self) -> str:
        """The folder that was last asked for: where a fresh kernel begins."""
        return self.state.folder

    @property
    def marked(self) -> bool:
        """Whether somebody named a state of it, and so means to come back."""
        return bool(self.state.checkpoints.named)

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
        self._phase = "provisioning"
        try:
            kernel = await self._new_kernel(deadline)
        except BaseException:
            self._slots.release_slot(self)
            raise
        self.adopt(kernel)
        if self.source.news is not None:
            self._tell(self.source.news)
            self.source.news = None
        return kernel

    async def _new_kernel(self, deadline: Deadline) -> Kernel:
        """Have one from the source."""
        return await self._with_descriptors(lambda: self.source.get(self.launch_spec(), deadline))

    async def _with_descriptors(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Do the work. When descriptors run out, close what holds no state and try again.

        Where that does not help, end unused sessions, one before each further try. Raises `KernelStartError`, or the
        `KernelError` of the work, when none is left to end.
        """
        closed = False
        while True:
            try:
                return await work()
            except (KernelError, OSError) as error:
                if without_descriptor(error) is None:
                    raise
                _log.warning("no descriptor is left for a kernel: %s", error)
                if not closed:
                    closed = True
                    await self._slots.close_idle(self)
                elif not await self._slots.end_unused(self):
                    if isinstance(error, KernelError):
                        raise
                    raise KernelStartError(f"Cannot start a kernel: {error.strerror or error}") from error

    def launch_spec(self) -> LaunchSpec:
        """What a kernel of this session starts with now, and where."""
        spec = self.terms.launch(self.folder)
        injected = {**spec.injected, **self.journal.environment}
        durable = self.terms.durable
        return self.door.shown_in(
            msgspec.structs.replace(spec, injected=injected, durable=durable, session=self.key.id)
        )

    def adopt(self, kernel: Kernel) -> None:
        """This one is up, and the session's from now on; the session has a slot for it."""
        self.kernel = kernel
        self.generation += 1
        self._finished_a_cell = False
        self._phase = "ready"

    async def reset(self, deadline: Deadline) -> None:
        """Have a fresh kernel, and forget every trouble with the old one; `dropped` says what it held.

        Named checkpoints stay, and a checkpoint of the state of now, where there can be one: undo goes back to it.
        """
        self.resetting, self.dropped = True, None
        try:
            left = self.source.left(self.launch_spec())
            names = self.state.names.listed()
            found = tuple(variable.name for variable in names.variables if variable.type != "module")
            complete = names.complete and left is None
            holds = bool(found) or not complete
            kept, why_not = None, ""
            # What holds nothing must not take the place of what an earlier reset has dropped.
            if holds or self.state.checkpoints.before_reset is None:
                kept, why_not = await self._keep_for_undo(deadline)
            self.dropped = Dropped(found, complete, why_not) if holds else None
            old, self.kernel = self.kernel, None
            self.source.forget()
            self.state.began_anew(undo_to=kept)
            self.journal.reset(can_be_undone=kept is not None)
            self._deaths = 0
            self.forget_news()
            failure: Exception | None = None
            async with anyio.create_task_group() as group:
                if old is not None:  # It takes as long to end as the new one to begin.
                    group.start_soon(_shut_down, old)
                if left is not None:
                    group.start_soon(end_left, left)
                try:
                    await self.ensure_kernel(deadline)
                except Exception as error:  # noqa: BLE001 - raised again outside: the task group would wrap it
                    failure = error
        finally:
            self.resetting = False
        if failure is not None:
            raise failure

    async def _keep_for_undo(self, deadline: Deadline) -> tuple[Kept | None, str]:
        """The state that a reset is about to drop, or why it cannot be kept, as a clause."""
        if self.state.blank:
            return None, "it was in a kernel that an earlier process had left"
        soon = Deadline.after(min(_KEEP_CAP, deadline.remaining() / 2))
        why_not = f"keeping its state took more than {soon.seconds:.1f} seconds"
        try:
            with soon.scope():
                return await self.state.keep_for_undo(self.kernel, soon), ""
        except KernelGone:
            why_not = "the kernel had ended"
        except CheckpointError as error:
            why_not = error.clause
        except DeadlineExceeded:
            pass  # As when the scope ends the wait.
        return None, why_not

    async def end_kernel(self) -> None:
        """End the kernel in good order."""
        kernel, self.kernel = self.kernel, None
        if kernel is not None:
            self._phase = "shutdown"
            self.source.forget()
            await _shut_down(kernel)
            self._slots.release_slot(self)

    async def leave_kernel(self) -> None:
        """Leave the kernel where it lives, for a later process that has this session; end it where that cannot be."""
        if await self.source.leave(self.kernel):
            self.kernel = None
            self._phase = "shutdown"
            self._slots.release_slot(self)
        else:
            await self.end_kernel()

    async def recover_if_dead(self) -> None:
        """See to a kernel that died between two calls."""
        if self.kernel is not None and not await self.kernel.is_alive():
            ended = self.kernel.ended if isinstance(self.kernel, Mortal) else None
            await self.recover(died_between_calls(ended))

    async def recover(self, why: str) -> StateNews:
        """The kernel is dead: it comes back from a checkpoint, or is cleared away. Each owner hears which, and why.

        So does the caller, who may be an owner no longer. Raises `KernelStartError` when our process has no descriptor
        left to wake a checkpoint: the kernel stays dead, and the next call tries again.
        """
        assert self.kernel is not None
        news = await self._with_descriptors(partial(bring_back, self.kernel, self.state, why))
        if news is not None:
            self.came_back()
            self._tell(news)
            return news
        if not self._finished_a_cell:
            self._deaths += 1
        harmless = self.state.blank and isinstance(self.kernel, Checkpointing)
        self.state.began_anew()
        news = StateNews.nothing_to_lose(why) if harmless else StateNews.lost(why)
        self._tell(news)
        await self.end_kernel()
        return news

    def _tell(self, news: StateNews) -> None:
        self.journal.state_changed(news.state, news.text, position=self.position, restore=news.restore)
        self.announce(news)

    def came_back(self) -> None:
        """The kernel goes on from a checkpoint, in another process."""
        self.generation += 1
        self._phase = "ready"

    def cell_began(self) -> None:
        """A cell runs."""
        self._phase = "executing"

    def cell_stopping(self) -> None:
        """The running cell has been interrupted and has not settled yet."""
        self._phase = "interrupted"

    def found_emptied(self) -> None:
        """The cell that has just run found a kernel that somebody else had restarted."""
        self.generation += 1
        self.state.began_anew()
        self._tell(StateNews.lost("Somebody had restarted the kernel before this cell ran"))

    def cell_cut(self) -> None:
        """No cell is known to have finished: the way to the kernel was lost, or the cell was not taken."""
        self._phase = "ready"

    def cell_finished(
        self, changes: VariableChanges | None = None, folder: str | None = None, code: str = "", notebook: str = ""
    ) -> tuple[str, ...]:
        """A cell came to its own end, whatever its result: this kernel works. Returns what `SessionState` does."""
        self._phase = "ready"
        self._finished_a_cell = True
        self._deaths = 0
        return self.state.cell_finished(changes, folder, code, notebook)

    async def keep_after_cell(self, duration_ms: float, *, put_off_ms: float = 0.0) -> str:
        """Keep the state of now, where the kernel can and it is worth it; a sentence about it if it was not kept.

        With `put_off_ms`, another cell follows at once, and cells that take less than that are kept together.
        """
        kernel = self.kernel
        if not isinstance(kernel, Checkpointing):
            return ""
        try:
            return await self.state.keep_after_cell(kernel, duration_ms, put_off_ms=put_off_ms)
        except KernelGone:
            return ""  # It died after the cell: whoever comes next finds that out, and says so.

    async def keep_when_idle(self) -> None:
        """Keep the state of after the last cell, if that was too dear at once and is worth it now; nobody may wait."""
        kernel, used = self.kernel, self.last_used
        if not isinstance(kernel, Checkpointing) or not self.state.worth_keeping_when_idle(kernel):
            return
        if not self.enter_turn_at_once():
            return
        try:
            await self.state.keep_when_idle(kernel)
        except (CheckpointError, KernelGone) as error:
            _log.debug("the state of the idle session %r was not kept: %s", self.key.id, error)
        finally:
            self.leave_turn()
            self.last_used = used  # It is as idle as before.

    async def keep_at_start(self) -> None:
        """Keep the state that a branch begins with, unless checkpoints are off: a crash is to lead back to it."""
        kernel, rule = self.kernel, self.state.policy.rule
        if rule.mode != "off" and isinstance(kernel, Checkpointing):
            try:
                await self.state.keep_beginning(kernel)
            except (CheckpointError, KernelGone) as error:
                _log.warning("the state of the branch %r was not kept: %s", self.key.id, error)

    async def checkpoint(self, name: str, deadline: Deadline) -> Kept:
        """Keep the state of now under a name, in place of an earlier one of that name; certain when this returns.

        Raises `CheckpointError` when there can be none, and when there are too many.
        """
        if not name.strip():
            raise InvalidCall("A checkpoint needs a name to be found by")
        async with self.turn(deadline):
            kernel = self.able_to_keep(await self.ensure_kernel(deadline))
            kept = await self.state.keep_as(name, kernel, deadline)
            self.journal.checkpoint_named(name, kept.position)
            return kept

    def take_notes(self) -> list[str]:
        """What the next result has to say besides, of whatever call: each is told once."""
        died = self.state.take_died()
        return [*self.source.take_notes(), *([died] if died else []), *self.journal.take_trouble()]

    def drop_checkpoint(self, name: str) -> None:
        """Give a named checkpoint up. Raises `CheckpointError` when there is none of that name."""
        self.state.checkpoints.drop(self.state.checkpoints.find(name))

    async def restore_to(self, name: str | None, deadline: Deadline, *, owner: str = "") -> WentBack:
        """Go to the state of a named checkpoint, else to the newest: one that was named, if there is any.

        Every owner but the one who wanted it hears of it. Raises `CheckpointError` when there is none.
        """
        self.runs_clean_for = None
        async with self.turn(deadline):
            checkpoints = self.state.checkpoints
            newest = next(iter([*reversed(checkpoints.named), *checkpoints.backwards()]), None)
            kept = newest if name is None else checkpoints.find(name)
            if kept is None:
                raise CheckpointError(f"Session {self.key.id!r} has no checkpoint to go back to")
            went = await go_back(self, kept, deadline, owner=owner)
            self.journal.went_back("restore", went.position, went.name)
            return went

    async def undo(self, deadline: Deadline, *, steps: int = 1, owner: str = "") -> WentBack:
        """Take the last cells back: go to the checkpoint of right before them. A reset before them is one step more.

        Every owner but the one who wanted it hears of it. Raises `CheckpointError` when there is none, and says what
        can be gone to instead.
        """
        self.runs_clean_for = None
        async with self.turn(deadline):
            target = undo_target(self.state, steps)
            over_reset = target is not None and target is self.state.checkpoints.before_reset
            went = await go_back(self, target, deadline, owner=owner, over_reset=over_reset)
            self.journal.went_back("undo", went.position, went.name, over_reset=went.reset)
            return went

    async def variables(self, deadline: Deadline) -> VariableList:
        """What the namespace holds; while a cell runs, what it held when the last one had finished."""
        if not self.enter_turn_at_once():
            return self.state.names.listed()
        try:
            await self.recover_if_dead()
            if self.kernel is not None and not isinstance(self.kernel, Inspecting):
                return self.state.names.listed()
            found = await self._list_variables(deadline)
            self.state.names.replace(found)
            return VariableList(found)
        finally:
            self.leave_turn()

    async def complete(self, code: str, cursor: int, deadline: Deadline) -> Completion:
        """What could stand at the cursor. Nothing is started, brought back, or waited for.

        While a call runs or waits, it is told from the names that the last finished cell left. It is no use of the
        session: one that is only completed in is idle.
        """
        kernel, used = self.kernel, self.last_used
        if not isinstance(kernel, Completing):
            return Completion()
        if not self.enter_turn_at_once():
            return among((variable.name for variable in self.state.names.listed().variables), code, cursor)
        try:
            return await kernel.complete(code, cursor, deadline)
        except KernelGone:
            return Completion()  # Whoever comes next with a cell finds that out, and says so.
        finally:
            self.leave_turn()
            self.last_used = used

    async def _list_variables(self, deadline: Deadline) -> tuple[Variable, ...]:
        """Asked again of the kernel that takes its place, if this one turns out to have ended."""
        try:
            return await self.kernel.variables(deadline) if isinstance(self.kernel, Inspecting) else ()
        except KernelGone:
            await self.recover_if_dead()
            return await self.kernel.variables(deadline) if isinstance(self.kernel, Inspecting) else ()

    def able_to_keep(self, kernel: Kernel) -> Checkpointing:
        """The kernel, as one that keeps its state. Raises `CheckpointError` if it cannot."""
        if isinstance(kernel, Checkpointing):
            return kernel
        raise CheckpointError(
            f"Kernels of the backend {kernel.backend!r} cannot keep their state here",
            hint="`pisces doctor` says what this machine can do.",
        )

    def info(self, state: KernelState, restore: Restore | None = None) -> KernelInfo:
        """The kernel, for the reader of a result."""
        return KernelInfo(
            backend=self.terms.backend.name,
            interpreter=self.key.interpreter,
            generation=self.generation,
            phase=self._phase,
            state=state,
            restore=restore,
        )

    async def close(self, *, why: str = "", wait: float = _CLOSE_WAIT, leave: bool = False) -> None:
        """Refuse new calls, give the running one `wait` seconds, then interrupt it, then end the kernel.

        With `leave`, a kernel that can live on without us does, where the terms allow it.
        """
        async with self.last_turn(wait, self.state.checkpoints.drop_all):
            try:
                self.state.checkpoints.drop_all()
                await (self.leave_kernel() if leave else self.end_kernel())
            finally:
                self.door.close()
                self.journal.close(why)


async def _shut_down(kernel: Kernel) -> None:
    """End it in good order, whatever happens to the call meanwhile."""
    with anyio.CancelScope(shield=True):
        await kernel.shutdown()
