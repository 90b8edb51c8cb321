"""What a kernel needs of the server it lives on, whoever runs that server."""

from typing import Protocol

from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.models import KernelModel
from pisces.kernels.gateway.rest import GatewayRest
from pisces.kernels.jupyter.transport import KernelEnded


class Gateway(Protocol):
    """A Jupyter server, ours or somebody else's; shared by all kernels on it."""

    @property
    def rest(self) -> GatewayRest:
        """The way to it. After `ensure`; it may be another one after the next, when the server had to be replaced."""
        ...

    @property
    def shares_machine(self) -> bool:
        """Whether its kernels run here as this user."""
        ...

    async def ensure(self, deadline: Deadline) -> None:
        """See that it is there and lets us in. Raises `KernelStartError` or `DeadlineExceeded`."""
        ...

    async def create(self, spec: LaunchSpec, deadline: Deadline) -> KernelModel:
        """Have a kernel started, after `ensure`. Raises `KernelStartError` or `DeadlineExceeded`."""
        ...

    async def lost(self) -> KernelEnded | None:
        """What is known of the kernels on it when it cannot be reached; None if they may live."""
        ...
