"""Where a session has its kernels from: a fresh one of its backend, or the one that an earlier process left."""

import anyio

from pisces.errors import KernelGone
from pisces.kernels.base import Kernel, LaunchSpec, Returning, Staying
from pisces.kernels.deadline import Deadline
from pisces.sessions.kernel_records import KernelRecords
from pisces.sessions.key import SessionKey
from pisces.sessions.recovery import StateNews
from pisces.sessions.terms import Terms


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

    async def get(self, spec: LaunchSpec, deadline: Deadline) -> Kernel:
        """A kernel that is up. Raises as `Kernel.start`."""
        kernel = None if self._fresh_only else await self._left_behind(spec, deadline)
        self._fresh_only = True
        return kernel or await self._fresh(spec, deadline)

    async def _fresh(self, spec: LaunchSpec, deadline: Deadline) -> Kernel:
        kernel = self._terms.backend.kernel(spec)
        await kernel.start(deadline)
        if self._terms.durable and isinstance(kernel, Staying) and kernel.ticket is not None:
            self._records.keep(self._key, kernel.ticket)
        return kernel

    async def _left_behind(self, spec: LaunchSpec, deadline: Deadline) -> Kernel | None:
        backend = self._terms.backend
        ticket = self._records.find(self._key) if self._terms.durable else None
        if ticket is None or not isinstance(backend, Returning):
            return None
        kernel = backend.returning(spec, ticket)
        self.looked = True
        try:
            await kernel.start(deadline)
        except KernelGone as error:
            self._records.forget(self._key)
            self.news = StateNews.lost(f"The kernel of this session is gone from {ticket.place}: {_clause(error)}")
            return None
        return kernel

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


def _clause(error: KernelGone) -> str:
    text = str(error).rstrip(".")
    return text[:1].lower() + text[1:]
