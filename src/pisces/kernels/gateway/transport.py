"""One kernel on a gateway, from its creation to its end: REST for its life, a link for its messages."""

import logging
import signal
from typing import Final
from uuid import uuid4

import anyio

from pisces.errors import DeadlineExceeded
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.gateway import Gateway
from pisces.kernels.gateway.link import GONE, KernelLink
from pisces.kernels.gateway.websocket import NotConnected
from pisces.kernels.jupyter.message import Message
from pisces.model.events import ProcessExit

_log = logging.getLogger(__name__)

_SLACK: Final = 0.1
"""What a start waits for keeps the deadline by itself, and says what it was."""
_KILL_CAP: Final = 2.0
_REACH_CAP: Final = 1.0
_SHUTDOWN_CAP: Final = 3.0
_INTERRUPT_CAP: Final = 5.0

_ENDED: Final = ProcessExit(cause="was ended by its client")
_KILLED: Final = ProcessExit(signal=signal.SIGKILL)
_LEFT: Final = ProcessExit(cause="was left to itself")


class GatewayTransport:
    """Fulfils `kernels.jupyter.transport.Transport`."""

    def __init__(self, gateway: Gateway, spec: LaunchSpec, *, client: str = "") -> None:
        self.client = client or uuid4().hex
        self.interpreter = spec.kernelspec or spec.interpreter
        self._gateway = gateway
        self._spec = spec
        self._link = KernelLink(gateway, self.client)
        self._attached = False
        self._on_server = False
        """Whether there may be a kernel on the server that is ours to end."""

    @classmethod
    def attached(cls, gateway: Gateway, spec: LaunchSpec, kernel_id: str, client: str) -> "GatewayTransport":
        """One that finds this kernel, which knows us as `client`; `open` raises `KernelEnded` if it is gone."""
        transport = cls(gateway, spec, client=client)
        transport._link.kernel_id = kernel_id
        transport._attached = True
        return transport

    @property
    def kernel_id(self) -> str:
        """By which the server knows the kernel; empty before there is one."""
        return self._link.kernel_id

    @property
    def place(self) -> str:
        """The address of the server, without secrets."""
        return self._gateway.rest.url

    @property
    def shares_machine(self) -> bool:
        """See `Transport`."""
        return self._gateway.shares_machine

    @property
    def ended(self) -> ProcessExit | None:
        """See `Transport`."""
        return self._link.ended

    async def open(self, deadline: Deadline) -> None:
        """See `Transport`. A kernel that was there before is left there when it cannot be reached."""
        opened = False
        try:
            with deadline.scope(slack=_SLACK):
                await self._gateway.ensure(deadline)
                name = await self._find_or_create(deadline)
                if self._spec.kernelspec or not self.shares_machine:
                    self.interpreter = name or self.interpreter
                await self._link.connect(deadline)
                self._on_server = opened = True
        except NotConnected as error:
            label = self._gateway.rest.label
            raise GatewayError(f"{label} has no way to the kernel: {error}", status=error.status) from error
        finally:
            if not opened:
                await self.kill()
        if not opened:
            raise DeadlineExceeded(f"The kernel did not start within {deadline.seconds:g} seconds")

    async def _find_or_create(self, deadline: Deadline) -> str:
        if self._attached:
            return (await self._link.find(deadline)).name
        model = await self._gateway.create(self._spec, deadline)
        self._link.kernel_id = model.id
        self._on_server = True
        return model.name

    async def reach(self, deadline: Deadline) -> bool:
        """Have power over a kernel that was left, without a link to it; whether it may run something.

        Raises `KernelEnded` if it is gone, `GatewayError` or `DeadlineExceeded`.
        """
        await self._gateway.ensure(deadline)
        model = await self._link.find(deadline)
        self._on_server = True
        return model.execution_state != "idle"

    async def ready(self) -> None:
        """See `Transport`."""
        await self._link.ready()

    async def send(self, message: Message) -> None:
        """See `Transport`."""
        await self._link.send(message)

    async def receive(self) -> Message:
        """See `Transport`."""
        return await self._link.receive()

    def receive_nowait(self) -> Message | None:
        """See `Transport`."""
        return self._link.receive_nowait()

    def take_as_read(self) -> None:
        """See `Transport`. It is so from the beginning; what the gateway does is its own affair."""

    async def interrupt(self) -> bool:
        """See `Transport`."""
        try:
            await self._gateway.rest.interrupt(self.kernel_id, Deadline.after(_INTERRUPT_CAP))
        except (GatewayError, DeadlineExceeded) as error:
            _log.info("the gateway did not interrupt the kernel: %s", error)
            return False
        return True

    async def kill(self) -> None:
        """See `Transport`. The server may take longer over it, and goes on by itself.

        A kernel that cannot be reached at all is not given up: `receive` says that its fate is not known.
        """
        if self._on_server and self.ended is None and not await self._reaches():
            self._link.lose("The gateway does not answer, so that the cell could not be stopped")
        else:
            await self._finish(_KILL_CAP, at_once=True)

    async def _reaches(self) -> bool:
        """Whether the server answers at all."""
        try:
            await self._gateway.rest.find(self.kernel_id, Deadline.after(_REACH_CAP))
        except (GatewayError, DeadlineExceeded):
            return await self._gateway.lost() is not None
        return True

    async def shutdown(self) -> None:
        """See `Transport`."""
        await self._finish(_SHUTDOWN_CAP)

    async def _finish(self, cap: float, *, at_once: bool = False) -> None:
        with anyio.CancelScope(shield=True):
            # Only our own gateway, which is on this machine, kills a kernel; others ask it to end first.
            self._link.end(_KILLED if at_once and self.shares_machine else _ENDED)
            # Also a kernel that has ended: the server may have put a fresh one in its place.
            if self._on_server and self.ended is not GONE:
                self._on_server = False
                if await self._gateway.lost() is not None:
                    await self._link.close()
                    return  # Its kernels have ended with it.
                await self._gateway.rest.remove(self.kernel_id, within=cap, at_once=at_once)
            await self._link.close()

    async def detach(self) -> None:
        """Close the connection and leave the kernel as it is. This object is of no use then."""
        self._on_server = False
        self._link.end(_LEFT)
        await self._link.close()

    def take_notes(self) -> tuple[str, ...]:
        """What the reader of the last result has to know of the connection; told once."""
        return self._link.take_notes()
