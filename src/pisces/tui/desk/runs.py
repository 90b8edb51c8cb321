"""What is to be run from here and is not over: the first of it runs, the others wait for their turn."""

import asyncio

import msgspec

from pisces.tui.desk.host_link import RunningCall
from pisces.tui.desk.live import LiveText
from pisces.tui.desk.timeline import Timeline


class OwnRun(msgspec.Struct, eq=False):
    """One call."""

    timeline: Timeline
    """Where what comes of it is said, whatever is in sight by then."""
    call: RunningCall
    live: LiveText
    is_shell: bool = False
    stopped: bool = False
    over: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    def stop(self) -> None:
        """Have it end; how that went is in its result."""
        self.stopped = True
        self.call.cancel()


class OwnRuns:
    """All of them, in the order in which they were sent."""

    def __init__(self) -> None:
        self._runs: list[OwnRun] = []

    def add(self, run: OwnRun) -> None:
        """It has been sent."""
        self._runs.append(run)

    def remove(self, run: OwnRun) -> None:
        """It is over."""
        self._runs.remove(run)
        run.over.set()

    async def turn_of(self, run: OwnRun) -> None:
        """Wait until it is this one's turn: calls that are under way at once come to the host in any order."""
        earlier = [each for each in self.of(run.timeline) if not each.is_shell]
        if not run.is_shell and run is not earlier[0]:
            await earlier[earlier.index(run) - 1].over.wait()

    def of(self, timeline: Timeline) -> list[OwnRun]:
        """Those of one session."""
        return [run for run in self._runs if run.timeline is timeline]

    def stop(self, timeline: Timeline) -> bool:
        """Stop what runs; a second time, what waits behind it too. False where the cell that runs is not from here.

        A command of the shell runs beside the cells, and the one that was sent last is meant.
        """
        runs = self.of(timeline)
        fresh = [run for run in runs if not run.stopped]
        at_work = [run for run in fresh if run.live.began or run.is_shell]
        if len(fresh) < len(runs):
            for run in fresh:
                run.stop()
        elif at_work:
            at_work[-1].stop()
        elif fresh and timeline.running is None:
            fresh[0].stop()
        else:
            return False
        return True
