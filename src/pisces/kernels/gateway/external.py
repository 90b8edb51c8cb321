"""A gateway that somebody else runs: nothing is started here, and no file is written."""

from collections.abc import Mapping

from pisces.kernels.base import KernelKind, LaunchSpec, Ticket
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.address import checked_token, checked_url
from pisces.kernels.gateway.flavors import ServerKind, choose_kernelspec, recognise, wish_for
from pisces.kernels.gateway.kernel import GatewayKernel
from pisces.kernels.gateway.models import KernelModel, Kernelspecs
from pisces.kernels.gateway.rest import GatewayRest
from pisces.kernels.jupyter.transport import KernelEnded


class ExternalGateway:
    """Fulfils `Gateway`."""

    shares_machine = False

    def __init__(self, url: str, token: str = "") -> None:
        """Raises `SettingsError` when the address or the token cannot be one."""
        address = checked_url(url)
        self.rest = GatewayRest(address, checked_token(token), label=f"External gateway at {address}")
        self._offered: Kernelspecs | None = None
        self._kind: ServerKind | None = None

    async def ensure(self, deadline: Deadline) -> None:
        """See `Gateway`."""
        self._offered = await self.rest.check(deadline)

    async def create(self, spec: LaunchSpec, deadline: Deadline) -> KernelModel:
        """See `Gateway`."""
        offered = self._offered or await self.rest.check(deadline)
        name = choose_kernelspec(offered, spec.kernelspec, self.rest.label)
        kind = await self.kind(deadline)
        wish = wish_for(spec, name, kind, shares_machine=False, patience=deadline.remaining())
        return await self.rest.create(wish, deadline)

    async def kind(self, deadline: Deadline) -> ServerKind:
        """What server this is; asked once. Raises `DeadlineExceeded`."""
        if self._kind is None:
            self._kind = await recognise(self.rest, deadline)
        return self._kind

    async def lost(self) -> KernelEnded | None:
        """See `Gateway`. Kernels of a server that cannot be reached may live on."""
        return None

    async def aclose(self) -> None:
        """Close the connections to it."""
        await self.rest.aclose()


class ExternalBackend:
    """Fulfils `Backend`, `Returning`, `Offering` and `Checking`."""

    name = "gateway"
    kind: KernelKind = "jupyter"

    def __init__(self, url: str, token: str = "") -> None:
        """Raises `SettingsError` when the address or the token cannot be one."""
        self.gateway = ExternalGateway(url, token)

    def kernel(self, spec: LaunchSpec) -> GatewayKernel:
        """See `Backend`."""
        return GatewayKernel(self.gateway, spec)

    def returning(self, spec: LaunchSpec, ticket: Ticket) -> GatewayKernel:
        """See `Returning`."""
        return GatewayKernel(self.gateway, spec, ticket=ticket)

    async def check(self, spec: LaunchSpec, deadline: Deadline) -> None:
        """See `kernels.base.Checking`."""
        await self.gateway.rest.check(deadline)

    async def close_idle(self) -> None:
        """See `kernels.base.Relieving`."""
        await self.gateway.rest.close_idle()

    async def kernelspecs(self, deadline: Deadline) -> Mapping[str, str]:
        """See `Offering`."""
        offered = await self.gateway.rest.check(deadline)
        return {name: entry.spec.language for name, entry in offered.kernelspecs.items()}

    async def aclose(self) -> None:
        """See `Backend`. Kernels are ended by whoever started them; the server is not ours."""
        await self.gateway.aclose()
