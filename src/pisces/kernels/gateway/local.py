"""The local backend: kernels on the gateway that all processes of a user share for an interpreter."""

import logging
import os
from collections.abc import Mapping
from typing import Any, Final

from pisces.environment.filter import PLAIN_MPLBACKEND
from pisces.errors import KernelStartError, without_descriptor
from pisces.kernels.base import KernelKind, LaunchSpec, Ticket
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.flavors import choose_kernelspec
from pisces.kernels.gateway.kernel import GatewayKernel
from pisces.kernels.gateway.launch import GatewayPlan, not_installed
from pisces.kernels.gateway.models import KernelModel, KernelWish
from pisces.kernels.gateway.record import GatewayFolder, venv_of
from pisces.kernels.gateway.rest import GatewayRest
from pisces.kernels.gateway.shared import Seat, SharedGateway
from pisces.kernels.jupyter.packages import missing_packages
from pisces.kernels.jupyter.transport import KernelEnded
from pisces.settings.paths import Paths
from pisces.settings.recorded_process import RecordedProcess

_PYTHON: Final = "python3"
"""The kernel of the gateway's own interpreter: its start sees to that."""
_OUT_OF_FILES: Final = "Too many open files"
"""What the system says for EMFILE and ENFILE."""
_RESTARTED: Final = "the shared gateway was restarted because it had too many open files"

_log = logging.getLogger(__name__)


class LocalWish(KernelWish, frozen=True):
    """A kernel to be started by the local gateway: in this folder and environment, and owned from the beginning."""

    cwd: str = "/"
    environ: Mapping[str, str] = {}
    owner: Mapping[str, int] | None = None
    """The process that it is to end with; None for a kernel that goes on without."""

    def body(self) -> dict[str, Any]:
        """What is posted."""
        return {**super().body(), "pisces": {"cwd": self.cwd, "env": dict(self.environ), "owner": self.owner}}


class LocalGateway:
    """Fulfils `Gateway` for one kernel: it stays with the process that the kernel was started by."""

    shares_machine = True

    def __init__(self, shared: SharedGateway, *, place: str = "") -> None:
        """`place` is where an earlier process left the kernel: no gateway is started then."""
        self._shared = shared
        self._place = place
        self._seat: Seat | None = None

    @property
    def rest(self) -> GatewayRest:
        """See `Gateway`."""
        return self._up.rest

    @property
    def _up(self) -> Seat:
        assert self._seat is not None, "ensure comes first"
        return self._seat

    async def ensure(self, deadline: Deadline) -> None:
        """See `Gateway`."""
        if self._seat is not None:
            return
        self._seat = await (self._shared.at(self._place, deadline) if self._place else self._shared.up(deadline))

    async def create(self, spec: LaunchSpec, deadline: Deadline) -> KernelModel:
        """See `Gateway`. One that has no descriptors left is restarted, once."""
        try:
            return await self._create(spec, deadline)
        except GatewayError as error:
            # Our own process may have none left, too: that says nothing about the gateway.
            if without_descriptor(error) is not None or _OUT_OF_FILES not in f"{error} {error.said}":
                raise
            _log.info("%s: %s", error, _RESTARTED)
        self._seat = await self._shared.restart(self._up, _RESTARTED, deadline)
        return await self._create(spec, deadline)

    async def _create(self, spec: LaunchSpec, deadline: Deadline) -> KernelModel:
        rest = self._up.rest
        name = (
            choose_kernelspec(await rest.check(deadline), spec.kernelspec, rest.label) if spec.kernelspec else _PYTHON
        )
        env = {**spec.env, **spec.injected}
        if env.get("MPLBACKEND") == PLAIN_MPLBACKEND:
            del env["MPLBACKEND"]  # The kernel shows figures itself.
        wish = LocalWish(name, cwd=spec.cwd, environ=env, owner=None if spec.durable else _ourselves())
        return await rest.create(wish, deadline)

    async def lost(self) -> KernelEnded | None:
        """See `Gateway`."""
        return await self._shared.ended(self._up)


class LocalBackend:
    """Fulfils `Backend` and `Returning`."""

    name = "gateway"
    kind: KernelKind = "jupyter"

    def __init__(
        self, *, paths: Paths | None = None, idle: float = 300.0, cull: int = 86400, shared: bool = True
    ) -> None:
        """A gateway without kernels ends after `idle` seconds, a kernel that nobody uses after `cull`.

        Without `shared`, no kernel starts: there are no gateways that are not.
        """
        self._paths = paths or Paths.locate(os.environ)
        self._idle = idle
        self._cull = cull
        self._allowed = shared
        self._gateways: dict[GatewayFolder, SharedGateway] = {}

    def kernel(self, spec: LaunchSpec) -> GatewayKernel:
        """See `Backend`."""
        return GatewayKernel(self._gateway(spec), spec)

    def returning(self, spec: LaunchSpec, ticket: Ticket) -> GatewayKernel:
        """See `Returning`."""
        return GatewayKernel(self._gateway(spec, ticket.place), spec, ticket=ticket)

    def _gateway(self, spec: LaunchSpec, place: str = "") -> "LocalGateway | DisabledGateway":
        if not self._allowed:
            return DisabledGateway()
        venv = venv_of(spec.interpreter, spec.env)
        folder = GatewayFolder.locate(self._paths, spec.interpreter, venv)
        if folder not in self._gateways:
            plan = GatewayPlan(interpreter=spec.interpreter, venv=venv, env=spec.env, idle=self._idle, cull=self._cull)
            self._gateways[folder] = SharedGateway(plan, folder)
        return LocalGateway(self._gateways[folder], place=place)

    async def check(self, spec: LaunchSpec, deadline: Deadline) -> None:
        """See `kernels.base.Checking`."""
        if not self._allowed:
            await DisabledGateway().ensure(deadline)
        if await missing_packages(spec, ["kernel_gateway", "ipykernel"], deadline):
            raise not_installed(spec.interpreter)

    async def close_idle(self) -> None:
        """See `kernels.base.Relieving`."""
        for gateway in self._gateways.values():
            await gateway.close_idle()

    async def aclose(self) -> None:
        """See `Backend`. Kernels are ended by whoever started them; the gateway goes on for others, and then ends."""
        gateways, self._gateways = list(self._gateways.values()), {}
        for gateway in gateways:
            await gateway.aclose()


class DisabledGateway(LocalGateway):
    """Where `python.sharedGateway` is off."""

    def __init__(self) -> None:
        self._seat = None

    async def ensure(self, deadline: Deadline) -> None:
        """See `Gateway`."""
        raise KernelStartError(
            "Shared Python gateway required; local gateways are disabled",
            hint="Set python.sharedGateway to true, name another gateway with PI_PYTHON_GATEWAY_URL, or choose "
            "another backend: `python.backend` = native.",
        )


def _ourselves() -> dict[str, int]:
    ours = RecordedProcess.of(os.getpid())
    return {"pid": ours.pid, "started": ours.start_time}
