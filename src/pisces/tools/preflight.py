"""Before the first call: whether Python can be had at all, and what can be started ahead."""

from typing import Final

from pisces.environment.interpreter import NotUsedYet
from pisces.errors import DeadlineExceeded, InterpreterError, PiscesError
from pisces.kernels.base import Checking, WarmingUp
from pisces.kernels.deadline import Deadline
from pisces.sessions.stop import StopSignal
from pisces.tools.base import Services
from pisces.tools.seat import find_seat

_CAP: Final = 10.0
_WARM_UP_CAP: Final = 30.0


async def preflight(services: Services) -> PiscesError | None:
    """What keeps the configured Python from being used, with the remedy; None if nothing is known to.

    Nothing is started but what answers questions, and nothing of a folder in which it was never used: that is taken to
    work. Failure is not remembered: what was mended is found the next time.
    """
    if services.interpreters.skips_check or services.backends.given:
        return None
    deadline = Deadline.after(_CAP)
    try:
        seat = await find_seat(services, None, StopSignal(deadline), deadline, ahead=True)
        if seat is None:
            return InterpreterError(f"No interpreter answered within {_CAP:g} seconds")
        backend = services.backends.get(seat.choice)
        if isinstance(backend, Checking):
            await backend.check(seat.spec, deadline)
    except NotUsedYet:
        return None
    except (PiscesError, DeadlineExceeded) as error:
        return error
    return None


async def warm_up(services: Services) -> None:
    """Start what kernels of the configured Python share, where that is cheap. Raises `PiscesError`.

    `NotUsedYet` is among them: opening a folder runs nothing that came with it.
    """
    deadline = Deadline.after(_WARM_UP_CAP)
    seat = await find_seat(services, None, StopSignal(deadline), deadline, ahead=True)
    backend = None if seat is None else services.backends.get(seat.choice)
    if seat is not None and isinstance(backend, WarmingUp):
        await backend.warm_up(seat.spec, deadline)
