"""A cell that was not sent: what had to be done before it failed."""

from collections.abc import Sequence

from pisces.model.events import AnyEvent, Done, Error


class FailedExecution:
    """Fulfils `kernels.base.Execution`."""

    done = True
    run = ""

    def __init__(self, ename: str, evalue: str, notes: tuple[str, ...]) -> None:
        self._events: list[AnyEvent] = [
            Error(ename, evalue, (f"{ename}: {evalue}",)),
            Done("error", notes=notes),
        ]

    async def receive(self) -> Sequence[AnyEvent]:
        """See `kernels.base.Execution`."""
        return self._events
