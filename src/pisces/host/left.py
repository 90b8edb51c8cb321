"""Sessions of an earlier host whose kernels were left on a gateway: to be had again, or dealt with where they are."""

from typing import Final

from pisces.errors import DeadlineExceeded, KernelGone, PiscesError
from pisces.host.homes import Home, Homes
from pisces.host.protocol import Call
from pisces.kernels.base import Left
from pisces.kernels.deadline import Deadline
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails
from pisces.runtime import Runtime
from pisces.sessions.kernel_records import KernelRecord
from pisces.sessions.kernel_source import KernelSource
from pisces.sessions.stop import StopSignal
from pisces.tools.base import error_result
from pisces.tools.seat import Seat, find_seat
from pisces.tools.session_result import told

OWNER: Final = "command line"
"""Every client is the same person: what one of them was told, the others need not hear again."""
_CAP: Final = 30.0


class LeftSessions:
    """What can be done about a session that no call has asked for since its host ended."""

    def __init__(self, runtime: Runtime, homes: Homes) -> None:
        self._runtime = runtime
        self._homes = homes

    def of(self, name: str) -> KernelRecord | None:
        """What is known of the kernel of this session, if it was left."""
        return self._runtime.records.of(name)

    async def bring_back(self, left: KernelRecord, call: Call) -> Home:
        """Have the session again, with its kernel. Raises what keeps that from being done."""
        home = self._homes.enter(left.session.id, call.place)
        deadline = Deadline.after(_CAP)
        seat = await _seat(home, deadline)
        key, terms = seat.key(left.session.id, home.services.cwd), seat.terms(home.services, durable=True)
        session = home.services.pool.session(key, OWNER, terms)
        async with session.turn(deadline):
            await session.ensure_kernel(deadline)
        return home

    async def interrupt(self, left: KernelRecord, call: Call) -> ToolResult:
        """Stop the cell that the host did not see the end of. Raises what keeps that from being done."""
        name, deadline = left.session.id, Deadline.after(_CAP)
        kernel = await self._kernel(left, call, deadline)
        stopped = kernel is not None and await kernel.interrupt_from_afar(deadline)
        text = (
            f"What still ran in session {name!r} is being stopped. The background host that began it has ended, so "
            "that its output is lost."
            if stopped
            else f"Nothing runs in session {name!r}."
        )
        return told(text, SessionDetails(action="interrupt", session=name))

    async def close(self, left: KernelRecord, call: Call) -> ToolResult:
        """End the kernel where it is; one that cannot be reached is given up."""
        name, deadline = left.session.id, Deadline.after(_CAP)
        try:
            kernel = await self._kernel(left, call, deadline)
            if kernel is not None:
                await kernel.end_from_afar(deadline)
        except KernelGone:
            pass  # Which is what was wanted.
        except PiscesError as error:
            self._runtime.records.forget(left.session)
            note = f"Session {name!r} is given up. Its kernel was left where it was, and may still be there."
            return error_result(f"{error.explain()}\n\n{note}")
        self._runtime.records.forget(left.session)
        return told(
            f"Session {name!r} is closed: its kernel and its state are gone.",
            SessionDetails(action="close", session=name),
        )

    async def _kernel(self, left: KernelRecord, call: Call, deadline: Deadline) -> Left | None:
        home, key = self._homes.enter(left.session.id, call.place), left.session
        terms = (await _seat(home, deadline)).terms(home.services, durable=True)
        return KernelSource(key, terms, self._runtime.records).left(terms.launch(key.cwd))


async def _seat(home: Home, deadline: Deadline) -> Seat:
    seat = await find_seat(home.services, home.kernel, StopSignal(deadline), deadline)
    if seat is None:
        raise DeadlineExceeded("No interpreter had answered in time")
    return seat
