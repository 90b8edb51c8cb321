"""The native backend: what `registry` hands to the sessions."""

from pisces.kernels.base import KernelKind, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.descriptors import allow_many
from pisces.kernels.native.kernel import NativeKernel
from pisces.kernels.native.zygotes import ZygotePool


class NativeBackend:
    """Makes native kernels that share their supervisors."""

    name = "native"
    kind: KernelKind = "native"

    def __init__(self, *, idle: float = 300.0) -> None:
        """A supervisor that has had no kernel for `idle` seconds ends itself."""
        allow_many()
        self._zygotes = ZygotePool(idle=idle)

    def kernel(self, spec: LaunchSpec) -> NativeKernel:
        """A kernel that has not been started yet."""
        return NativeKernel(spec, self._zygotes)

    async def warm_up(self, spec: LaunchSpec, deadline: Deadline) -> None:
        """Start the supervisor of such kernels: what is left of a start is then a fork."""
        await self._zygotes.get(spec, deadline)

    async def close_idle(self) -> None:
        """See `kernels.base.Relieving`."""
        await self._zygotes.close_idle()

    async def aclose(self) -> None:
        """End every process of this backend."""
        await self._zygotes.aclose()
