"""The sessions of a runtime: found by key, held by owners, bounded in number, cleared away when idle."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain, count

import anyio
import msgspec

from pisces.errors import (
    CheckpointError,
    DeadlineExceeded,
    KernelError,
    KernelStartError,
    SessionClosed,
    SessionError,
)
from pisces.journal.session_journal import Journals
from pisces.kernels.base import (
    Checkpoint,
    Checkpointing,
    Kernel,
    KernelKind,
    LaunchSpec,
    Relieving,
    Revival,
)
from pisces.kernels.deadline import Deadline
from pisces.sessions.kernel_records import KernelRecords
from pisces.sessions.key import SessionKey
from pisces.sessions.origin import Origin
from pisces.sessions.recovery import StateNews
from pisces.sessions.session import Session
from pisces.sessions.state import Place
from pisces.sessions.terms import Terms

_log = logging.getLogger(__name__)

_LIVENESS_SECONDS = 5.0
_SWEEP_SECONDS = 30.0
_REMEMBERED_LOSSES = 1000

_Holding = tuple[SessionKey, str]
"""A session as one owner knows it."""


class _Loss(msgspec.Struct, frozen=True):
    """Why a session was ended, and whether it was the owner's alone."""

    why: str
    alone: bool


class SessionPool:
    """Hands out sessions. `maintain` runs in a task of the owner's; `aclose` ends every session."""

    def __init__(
        self,
        *,
        max_kernels: Mapping[KernelKind, int],
        idle_timeout: float,
        journals: Journals | None = None,
        records: KernelRecords | None = None,
    ) -> None:
        """Without `journals`, what happens is not written down; without `records`, no kernel is found again."""
        self._journals = journals or Journals(None)
        self._records = records or KernelRecords(None)
        self._max_kernels = max_kernels
        self._idle_timeout = idle_timeout
        self._sessions: dict[SessionKey, Session] = {}
        self._own: dict[_Holding, Session] = {}
        """Sessions that one owner alone has, since it reset a shared one."""
        self._with_kernel: set[Session] = set()
        self._slot_changed: anyio.Event | None = None
        """Set, for those who wait for a slot, when one may have become free; None while nobody waits."""
        self._losses: OrderedDict[_Holding, _Loss] = OrderedDict()
        """Evictions that an owner of the session has not been told of yet."""
        self._closed = False
        self.on_new: Callable[[Session], None] = lambda session: None
        """Hears of each session that is made."""

    @property
    def sessions(self) -> list[Session]:
        """Every session there is."""
        return [*self._sessions.values(), *self._own.values()]

    def session(self, key: SessionKey, owner: str, terms: Terms) -> Session:
        """The session of this key, as this owner sees it; made when there is none, held by the owner from now on."""
        if self._closed:
            raise SessionClosed("The runtime has been closed")
        loss = self._losses.pop((key, owner), None)
        alone = (key, owner) in self._own or (loss is not None and loss.alone)
        session = self._own.get((key, owner)) if alone else self._sessions.get(key)
        if session is None or session.closed:
            session = self._new(key, terms)
            # The same name with another kernel is no new name, and a session that was ended is reported as lost.
            session.is_new = loss is None and all(other.key.id != key.id or other.closed for other in self.sessions)
            if alone:
                self._own[key, owner] = session
            else:
                self._sessions[key] = session
        session.owners[owner] = True
        if loss is not None:
            session.leave_news(owner, StateNews.lost(loss.why))
        return session

    def why_ended(self, name: str, owner: str) -> str:
        """Why the session of this name is gone, as far as this owner has not been told; empty where it is not known."""
        losses = [loss.why for (key, holder), loss in self._losses.items() if (key.id, holder) == (name, owner)]
        return losses[-1] if losses else ""

    def separate(self, session: Session, owner: str, terms: Terms) -> Session:
        """A session of its own for an owner that resets one it shares with others; the same one if it does not."""
        if len(session.owners) <= 1:
            return session
        del session.owners[owner]
        session.take_news(owner)
        own = self._new(session.key, terms)
        own.owners[owner] = True
        own.is_separate = True
        self._own[session.key, owner] = own
        return own

    async def branch(
        self,
        session: Session,
        new_id: str,
        owner: str,
        deadline: Deadline,
    ) -> Session:
        """A new session that begins with the state of this one as it is now; from then on neither sees the other.

        Its `origin` says how the state came along. Undo in it ends where it begins. Raises `SessionError` when the name
        is taken, `CheckpointError` when the kernel cannot branch, `DeadlineExceeded`; then there is no new session.
        """
        key = msgspec.structs.replace(session.key, id=new_id)
        self._refuse_taken(key, owner)
        async with session.turn(deadline):
            kernel = session.able_to_keep(await session.ensure_kernel(deadline))
            here = await session.state.now(kernel)
            place = Place(folder=here.folder, position=here.position, names=here.names)
            branch = self._new(key, session.terms, place)
            async with branch.turn(deadline):  # So that nobody ends it to make room.
                try:
                    copy, revival = await _woken(kernel, here.checkpoint, branch.launch_spec(), deadline)
                    branch.adopt(copy)
                    await self.acquire_slot(branch, deadline)  # Last: a branch that fails ends nobody's session.
                    branch.origin = Origin(session.key.id, here.position, revival.restore(0))
                    await self._admit(branch, owner)
                except BaseException:
                    await branch.end_kernel()
                    self.release_slot(branch)
                    branch.door.close()
                    raise
                finally:
                    here.checkpoint.drop()
                branch.journal.branch_from(session.journal, here.position)
        return branch

    def _new(self, key: SessionKey, terms: Terms, place: Place | None = None) -> Session:
        session = Session(key, terms, self, journals=self._journals, records=self._records, place=place)
        self.on_new(session)
        return session

    async def _admit(self, branch: Session, owner: str) -> None:
        """The branch is there from now on, unless its name was taken meanwhile."""
        self._refuse_taken(branch.key, owner)
        self._losses.pop((branch.key, owner), None)
        branch.owners[owner] = True
        self._sessions[branch.key] = branch
        with anyio.CancelScope(shield=True):
            await branch.keep_at_start()

    def _refuse_taken(self, key: SessionKey, owner: str) -> None:
        if self._closed:
            raise SessionClosed("The runtime has been closed")
        taken = self._sessions.get(key) or self._own.get((key, owner))
        if taken is not None and not taken.closed:
            raise SessionError(
                f"There is a session named {key.id!r} already", hint="Choose another name, or close that one first."
            )

    async def leave(self, owner: str) -> None:
        """The owner is done: every session that nobody else holds ends."""
        for session in self.sessions:
            if session.owners.pop(owner, None) is None:
                continue
            session.take_news(owner)
            if not session.owners:
                await self.end(session)

    def disconnect(self, owner: str) -> None:
        """The owner may come back: its sessions stay until they have been idle for long."""
        for session in self.sessions:
            if owner in session.owners:
                session.owners[owner] = False

    async def maintain(self) -> None:
        """Look after the sessions for ever: see to dead kernels, keep states, end what has been idle for too long."""
        next_sweep = time.monotonic() + _SWEEP_SECONDS
        while True:
            await anyio.sleep(_LIVENESS_SECONDS)
            await self.recover_dead()
            await self.keep_idle()
            if time.monotonic() >= next_sweep:
                next_sweep = time.monotonic() + _SWEEP_SECONDS
                await self.evict_idle()

    async def recover_dead(self) -> None:
        """See to kernels that died between calls, so that the next call need not wait for it."""
        for session in self.sessions:
            if session.kernel is None or await session.has_kernel() or not session.enter_turn_at_once():
                continue
            try:
                await session.recover_if_dead()
            except KernelStartError as error:  # Our process has no descriptor left: the next call tries again.
                _log.warning("the session %r could not be brought back: %s", session.key.id, error)
            finally:
                session.leave_turn()

    async def keep_idle(self) -> None:
        """Keep the states that were too dear to be kept right after their cells: now nobody waits."""
        for session in self.sessions:
            await session.keep_when_idle()

    async def evict_idle(self) -> None:
        """End the sessions that no connected owner holds and nobody has used for the idle time."""
        now = time.monotonic()
        for session in self.sessions:
            if now - session.last_used >= self._idle_timeout and _is_unused(session):
                await self._evict(session, f"The session was idle for {self._idle_timeout:g} seconds and was ended")

    def clean_name(self, beside: str) -> str:
        """The name of a session to run a notebook from scratch: never one that holds something else."""
        here = {session.key.id for session in self.sessions}
        taken = {session.key.id for session in self.sessions if session.runs_clean_for is None}
        taken |= {record.session.id for record in self._records.all()} - here  # Their kernels are on a gateway.
        names = chain([f"{beside}-clean"], (f"{beside}-clean-{number}" for number in count(2)))
        return next(name for name in names if name not in taken)

    async def acquire_slot(self, session: Session, deadline: Deadline) -> None:
        """Leave to start a kernel; the least recently used idle session makes room, or the caller waits for one."""
        kind = session.terms.backend.kind
        most = self._max_kernels[kind]
        while session not in self._with_kernel:
            peers = [other for other in self._with_kernel if other.terms.backend.kind == kind]
            if len(peers) < most:
                break
            idle = [peer for peer in peers if not peer.busy]
            # A run from scratch is a check: no state that somebody may still want is given up for it.
            check = session.runs_clean_for is not None
            dispensable = (
                peer for peer in idle if not check or _is_unused(peer) or (peer.runs_clean_for and not peer.marked)
            )
            victim = min(dispensable, key=lambda s: (s.marked, s.runs_clean_for is None, s.last_used), default=None)
            if victim is not None:
                await self._evict(victim, f"The session was ended to make room: {most} kernels may be up")
                session.source.notes.append(
                    f"Session {victim.key.id!r} was ended to make room for this one: at most {most} kernels may be up "
                    "(`python.maxSessions`)."
                )
                continue
            if len(idle) == len(peers):
                names = ", ".join(sorted(repr(peer.key.id) for peer in idle))
                raise SessionError(
                    f"No room for a kernel to run from scratch: at most {most} may be up, those of {names}",
                    hint="Close a session that is not needed. `python.maxSessions` sets how many may be up.",
                )
            changed = self._slot_changed = self._slot_changed or anyio.Event()
            with deadline.scope() as scope:
                await changed.wait()
            if scope.cancelled_caught:
                raise DeadlineExceeded(
                    f"All {most} kernels are busy", hint="`python.maxSessions` sets how many may be up."
                )
        self._with_kernel.add(session)

    async def close_idle(self, session: Session) -> None:
        """Close what holds no state, because descriptors have run out.

        These are connections that nothing goes over, and processes that no kernel comes from.
        """
        for backend in {id(other.terms.backend): other.terms.backend for other in (session, *self.sessions)}.values():
            if isinstance(backend, Relieving):
                await backend.close_idle()

    async def end_unused(self, session: Session) -> bool:
        """End the least recently used session that no connected owner holds, because descriptors have run out.

        The next result of `session`, for which it is ended, names it. False when there is none.
        """
        unused = [
            other for other in self.sessions if other is not session and other.kernel is not None and _is_unused(other)
        ]
        if not unused:
            return False
        victim = min(unused, key=lambda other: other.last_used)
        await self._evict(
            victim, "The session was ended to make room: this process has no file descriptor left for another"
        )
        session.source.notes.append(
            f"Session {victim.key.id!r} was ended to make room for this one: no more files could be opened "
            "(`ulimit -n`)."
        )
        await self.close_idle(session)  # The process that its kernel came from may have no other.
        return True

    def release_slot(self, session: Session) -> None:
        """The session's kernel is gone: whoever waits for a slot looks again."""
        self._with_kernel.discard(session)
        self.session_idle()

    def session_idle(self) -> None:
        """A session may have become idle: those who wait for a slot look again."""
        if self._slot_changed is not None:
            self._slot_changed.set()
            self._slot_changed = None

    async def aclose(self) -> None:
        """End every session; running calls get a moment, then are interrupted. Kernels that may live on are left."""
        self._closed = True
        async with anyio.create_task_group() as group:
            for session in self.sessions:
                group.start_soon(partial(self.end, session, leave=True))

    async def _evict(self, session: Session, why: str) -> None:
        self._remember_loss(session, why)
        await self.end(session, why)

    async def close(self, session: Session, owner: str) -> None:
        """End one session because this owner wants to: every other one that holds it hears of it with its next call."""
        session.owners.pop(owner, None)
        self._remember_loss(session, "Somebody who shared the session closed it")
        await self.end(session)

    def _remember_loss(self, session: Session, why: str) -> None:
        """Whoever holds the session now hears with their next call that it is gone."""
        alone = session in self._own.values()
        for owner in session.owners:
            self._losses[session.key, owner] = _Loss(why, alone)
        while len(self._losses) > _REMEMBERED_LOSSES:
            self._losses.popitem(last=False)

    async def end(self, session: Session, why: str = "", *, leave: bool = False) -> None:
        """End one session, whoever holds it; `why` is for its journal."""
        if self._sessions.get(session.key) is session:
            del self._sessions[session.key]
        for holding in [holding for holding, own in self._own.items() if own is session]:
            del self._own[holding]
        await session.close(why=why, leave=leave)
        if session.door.owner:
            await self.leave(session.door.owner)


async def _woken(
    kernel: Checkpointing, checkpoint: Checkpoint, spec: LaunchSpec, deadline: Deadline
) -> tuple[Kernel, Revival]:
    """A second kernel that goes on from the checkpoint. Raises `CheckpointError` if there is none."""
    try:
        return await kernel.branch(checkpoint, spec, deadline)
    except (KernelError, DeadlineExceeded) as error:
        raise CheckpointError(
            f"The state of the session could not be woken as another: {error.clause}.",
            hint="Nothing has changed: the session goes on where it stands.",
        ) from error


def _is_unused(session: Session) -> bool:
    """Whether nothing runs in it, nothing in it was marked to be kept, and no connected owner holds it."""
    return not session.busy and not session.marked and not any(session.owners.values())
