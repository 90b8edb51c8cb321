"""Where a session has its kernels from: a fresh one of its backend, or the one that an earlier process left."""

import logging
from functools import partial
from typing import Final

import anyio

from pisces.errors import DeadlineExceeded, KernelError, KernelGone
from pisces.kernels.base import Kernel, LaunchSpec, Left, Returning, Staying, Ticket
from pisces.kernels.deadline import Deadline
from pisces.sessions.kernel_modules import start_with_modules
from pisces.sessions.kernel_records import KernelRecords
from pisces.sessions.key import SessionKey
from pisces.sessions.recovery import StateNews
from pisces.sessions.terms import Terms

_END_CAP: Final = 5.0

_log = logging.getLogger(__name__)


class KernelSource:
    """One session's. What it says of a kernel that was left, and is gone, is in `news` until it is taken."""

    def __init__(self, key: SessionKey, terms: Terms, records: KernelRecords) -> None:
        self.looked = False
        """Whether an earlier process had left a kernel, so that what became of it is known, and said."""
        self.news: StateNews | None = None
        self._key = key
        self._terms = terms
        self._records = records
        self._fresh_only = False
        self.notes: list[str] = []
        """What is to be told of how a kernel was had, until it is taken."""

    async def get(self, spec: LaunchSpec, deadline: Deadline) -> Kernel:
        """A kernel that is up. Raises as `Kernel.start`."""
        kernel = await self._left_behind(spec, deadline)
        self._fresh_only = True
        return kernel or await self._fresh(spec, deadline)

    async def _fresh(self, spec: LaunchSpec, deadline: Deadline) -> Kernel:
        if spec.artifacts is not None:
            spec.artifacts.make_folder()
        kernel, outcomes = await start_with_modules(
            partial(self._terms.backend.kernel, spec), self._terms.modules, deadline
        )
        self.notes += [note for outcome in outcomes for note in outcome.notes]
        if self._terms.durable and isinstance(kernel, Staying) and kernel.ticket is not None:
            self._records.keep(self._key, kernel.ticket)
        return kernel

    def take_notes(self) -> list[str]:
        """What is to be told of how a kernel was had; told once."""
        notes, self.notes = self.notes, []
        return notes

    async def _left_behind(self, spec: LaunchSpec, deadline: Deadline) -> Kernel | None:
        ticket = self._ticket()
        kernel = None if ticket is None else self._returning(spec, ticket)
        if kernel is None or ticket is None:
            return None
        self.looked = True
        try:
            await kernel.start(deadline)
        except KernelGone as error:
            self._records.forget(self._key)
            self.news = StateNews.lost(f"The kernel of this session is gone from {ticket.place}: {_clause(error)}")
            return None
        return kernel

    def _ticket(self) -> Ticket | None:
        return None if self._fresh_only or not self._terms.durable else self._records.find(self._key)

    def left(self, spec: LaunchSpec) -> Left | None:
        """The kernel that an earlier process left and this one has not had yet, to be dealt with from afar."""
        ticket = self._ticket()
        self.looked |= ticket is not None
        return None if ticket is None else self._returning(spec, ticket)

    def _returning(self, spec: LaunchSpec, ticket: Ticket) -> Left | None:
        backend = self._terms.backend
        return backend.returning(spec, ticket) if isinstance(backend, Returning) else None

    def forget(self) -> None:
        """The kernel has ended, or will: no later process is to look for it."""
        self._fresh_only = True
        if self._terms.durable:
            self._records.forget(self._key)

    def can_leave(self, kernel: Kernel | None) -> bool:
        """Whether the kernel lives on without this process."""
        return self._terms.durable and isinstance(kernel, Staying) and kernel.ticket is not None

    async def leave(self, kernel: Kernel | None) -> bool:
        """Leave the kernel where it lives, for a later process that has this session; False if that cannot be."""
        if not isinstance(kernel, Staying) or not self.can_leave(kernel):
            return False
        with anyio.CancelScope(shield=True):
            await kernel.detach()
        return True


async def end_left(kernel: Left) -> None:
    """End a kernel that nobody will ask for again, whatever happens to the call meanwhile."""
    try:
        with anyio.CancelScope(shield=True):
            await kernel.end_from_afar(Deadline.after(_END_CAP))
    except KernelGone as error:
        _log.debug("there is nothing to end: %s", error)
    except (KernelError, DeadlineExceeded) as error:
        _log.warning("the kernel that an earlier process left may still be there: %s", error)


def _clause(error: KernelGone) -> str:
    return error.clause[:1].lower() + error.clause[1:]
