"""A checkpoint of a native kernel: a sleeping copy of its process."""

from pisces.errors import CheckpointError, KernelStartError
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.sleepers import Sleeper
from pisces.kernels.native.zygote import Zygote


class NativeCheckpoint:
    """Fulfils `kernels.base.Checkpoint`."""

    def __init__(self, zygote: Zygote, sleeper: Sleeper) -> None:
        self.zygote = zygote
        """Whose child the copy is: only there can it be woken."""
        self.sleeper = sleeper
        self._blocked_ms: float | None = None
        self._dropped = False

    @property
    def usable(self) -> bool:
        """See `kernels.base.Checkpoint`."""
        return self.sleeper.usable and self.zygote.alive and not self._dropped

    @property
    def died(self) -> bool:
        """See `kernels.base.Checkpoint`; what ends with its supervisor has not ended by itself."""
        return self.sleeper.died and self.zygote.alive and not self._dropped

    @property
    def by_value(self) -> bool:
        """See `kernels.base.Checkpoint`."""
        return self.sleeper.by_value

    @property
    def blocked_ms(self) -> float | None:
        """See `kernels.base.Checkpoint`."""
        return self._blocked_ms

    def made(self, blocked_ms: float) -> None:
        """The kernel goes on."""
        self._blocked_ms = blocked_ms

    async def settled(self, deadline: Deadline) -> None:
        """See `kernels.base.Checkpoint`: until the copy sleeps, it would end with its kernel."""
        try:
            await self.sleeper.asleep(deadline)
        except KernelStartError as error:
            raise CheckpointError(f"The checkpoint could not be made: {error}") from error

    def drop(self) -> None:
        """See `kernels.base.Checkpoint`."""
        self._dropped = True
        self.zygote.give_up(self.sleeper)
