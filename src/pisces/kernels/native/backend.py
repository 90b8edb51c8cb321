"""The native backend: what `registry` hands to the sessions."""

from pisces.kernels.base import LaunchSpec
from pisces.kernels.native.kernel import NativeKernel
from pisces.kernels.native.zygotes import ZygotePool


class NativeBackend:
    """Makes native kernels that share their supervisors."""

    name = "native"

    def __init__(self) -> None:
        self._zygotes = ZygotePool()

    def kernel(self, spec: LaunchSpec) -> NativeKernel:
        """A kernel that has not been started yet."""
        return NativeKernel(spec, self._zygotes)

    async def aclose(self) -> None:
        """End every process of this backend."""
        await self._zygotes.aclose()
