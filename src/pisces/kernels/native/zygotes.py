"""The supervisors of one runtime: one for each interpreter, start-up environment and list of modules to preload."""

from collections.abc import Sequence

import anyio

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.zygote import Zygote

_Key = tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]


class ZygotePool:
    """Hands out supervisors; the first request for one starts it, others wait for that start."""

    def __init__(self, *, idle: float) -> None:
        """A supervisor without kernels ends itself after `idle` seconds."""
        self._idle = idle
        self._zygotes: dict[_Key, Zygote] = {}
        self._starting: dict[_Key, anyio.Lock] = {}

    async def get(self, spec: LaunchSpec, deadline: Deadline) -> Zygote:
        """A living supervisor for this interpreter and environment."""
        key = (spec.interpreter, tuple(sorted(spec.env.items())), spec.preload)
        lock = self._starting.setdefault(key, anyio.Lock())
        try:
            async with lock:
                await self._clear_ended()
                zygote = self._zygotes.get(key)
                if zygote is None:
                    zygote = Zygote(spec.interpreter, spec.env, preload=spec.preload, idle=self._idle)
                    await zygote.start(deadline)
                    self._zygotes[key] = zygote
                return zygote
        finally:
            # A host that lives for weeks sees many environments. A lock that is held by now is cleared by its holder.
            if self._starting.get(key) is lock and not lock.locked():
                del self._starting[key]

    async def close_idle(self) -> None:
        """End those that have no kernel: a later start makes another."""
        await self._stop([key for key, zygote in self._zygotes.items() if zygote.idle])

    async def _clear_ended(self) -> None:
        """Collect those that have ended, of which a host that lives for weeks may have many."""
        await self._stop([key for key, zygote in self._zygotes.items() if not zygote.alive])

    async def _stop(self, keys: Sequence[_Key]) -> None:
        zygotes = [self._zygotes.pop(key) for key in keys]
        with anyio.CancelScope(shield=True):
            for zygote in zygotes:
                await zygote.stop()

    async def aclose(self) -> None:
        """End all of them, and with them everything they forked."""
        zygotes, self._zygotes = list(self._zygotes.values()), {}
        async with anyio.create_task_group() as group:
            for zygote in zygotes:
                group.start_soon(zygote.stop)
