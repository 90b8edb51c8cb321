"""A kernel on a gateway, which goes on there when its client leaves."""

import anyio

from pisces.errors import KernelError
from pisces.kernels.base import LaunchSpec, Ticket
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.gateway import Gateway
from pisces.kernels.gateway.transport import GatewayTransport
from pisces.kernels.jupyter.kernel import JupyterKernel


class GatewayKernel(JupyterKernel):
    """Fulfils `Kernel` and `Staying`; with a ticket, `Left`."""

    transport: GatewayTransport

    def __init__(self, gateway: Gateway, spec: LaunchSpec, *, ticket: Ticket | None = None) -> None:
        """A new kernel, or the one that a ticket leads to."""
        if ticket is None:
            super().__init__(GatewayTransport(gateway, spec), spec, backend="gateway")
        else:
            transport = GatewayTransport.attached(gateway, spec, ticket.kernel, ticket.client)
            super().__init__(transport, spec, backend="gateway", nonce=ticket.nonce)
        self._returning = ticket is not None
        if spec.memory_limit_mb:
            self._notes.append("python.memoryLimitMb has no effect on a gateway: this kernel has no limit of ours.")

    @property
    def ticket(self) -> Ticket | None:
        """See `Staying`. None for a kernel that could be replaced without our seeing it."""
        kernel_id = self.transport.kernel_id
        if not kernel_id or not self.nonce or self.ended is not None:
            return None
        python = self._spec.interpreter if self.transport.shares_machine else ""
        return Ticket(self.transport.place, kernel_id, self.transport.client, self.nonce, python)

    async def detach(self) -> None:
        """See `Staying`."""
        await self.transport.detach()

    async def interrupt_from_afar(self, deadline: Deadline) -> bool:
        """See `Left`."""
        if not await self.transport.reach(deadline):
            return False
        if not await self.transport.interrupt():
            raise KernelError("What the kernel runs could not be interrupted: its gateway would not do it")
        return True

    async def end_from_afar(self, deadline: Deadline) -> None:
        """See `Left`."""
        await self.transport.reach(deadline)
        await self.transport.kill()

    async def _give_up(self) -> None:
        """A kernel that was there before is not ended because we did not get to it, unless it is another by now."""
        if self._returning and self.ended is None:
            with anyio.CancelScope(shield=True):
                await self.transport.detach()
        else:
            await super()._give_up()
