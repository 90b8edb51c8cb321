"""The shared gateway of one interpreter, as this process sees it: which one it is, and what became of earlier ones."""

from typing import Final

import anyio
import msgspec

from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import acquire_shared_gateway, gone, is_healthy
from pisces.kernels.gateway.launch import GatewayPlan
from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord
from pisces.kernels.gateway.rest import GatewayRest
from pisces.kernels.jupyter.transport import KernelEnded
from pisces.model.events import ProcessExit

_CLEARED_CAP: Final = 2.0


class Seat(msgspec.Struct, frozen=True, eq=False):
    """One gateway process, and the way to it; it stays what it is when another process takes that one's place."""

    record: GatewayRecord
    rest: GatewayRest


class SharedGateway:
    """Finds the gateway or has it started; at most one start at a time goes on in this process."""

    def __init__(self, plan: GatewayPlan, folder: GatewayFolder) -> None:
        self._plan = plan
        self._folder = folder
        self._seats: dict[GatewayRecord, Seat] = {}
        self._why: dict[GatewayRecord, str] = {}
        self._starting = anyio.Lock()

    async def up(self, deadline: Deadline) -> Seat:
        """The gateway, started if need be. Raises `KernelStartError` or `DeadlineExceeded`."""
        async with self._starting:
            return self._seat(await acquire_shared_gateway(self._plan, self._folder, deadline))

    async def at(self, url: str, deadline: Deadline) -> Seat:
        """The gateway that was at this address, if it still is. Raises `KernelEnded` if not, or `DeadlineExceeded`."""
        record = self._folder.record()
        if record is None or record.url != url or not await is_healthy(record, deadline):
            raise KernelEnded("the shared gateway that it lived on has ended")
        return self._seat(record)

    async def restart(self, bad: Seat, why: str, deadline: Deadline) -> Seat:
        """Another gateway in the place of this one; the kernels on that end, and are told why. Raises as `up`."""
        async with self._starting:
            self._why[bad.record] = why
            return self._seat(await acquire_shared_gateway(self._plan, self._folder, deadline, instead_of=bad.record))

    async def ended(self, seat: Seat) -> KernelEnded | None:
        """What to tell the kernels of a gateway that cannot be reached; None as long as its process may live."""
        process = seat.record.process
        try:
            if not process.start_time or process.is_running:
                process.continue_if_stopped()
                return None
            await gone(seat.record.keeper, _CLEARED_CAP)
        except OSError:  # There is no descriptor left to look with.
            return None
        why = self._why.get(seat.record, f"the shared gateway (process {process.pid}) has ended")
        return KernelEnded(f"{why[:1].upper()}{why[1:]}", exit=ProcessExit(cause=f"ended because {why}"))

    def _seat(self, record: GatewayRecord) -> Seat:
        if record not in self._seats:
            rest = GatewayRest(record.url, record.token, label=f"The shared gateway at {record.url}")
            self._seats[record] = Seat(record, rest)
        return self._seats[record]

    async def close_idle(self) -> None:
        """Close the connections that nothing goes over now."""
        for seat in self._seats.values():
            await seat.rest.close_idle()

    async def aclose(self) -> None:
        """Close the connections. The gateway goes on: others may use it, and it ends when nobody does."""
        seats, self._seats = list(self._seats.values()), {}
        for seat in seats:
            await seat.rest.aclose()
