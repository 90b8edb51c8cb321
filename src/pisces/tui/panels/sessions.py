"""The sessions that can be looked at, and the jobs of the background host."""

import os
import time
from collections.abc import Sequence
from typing import Final

from pisces.model.results import JobInfo
from pisces.tui.desk.sessions import SeenSession, Where
from pisces.tui.panels.filter_list import FilterList

_WHERE: Final[dict[Where, str]] = {"host": "here", "elsewhere": "another program", "past": "past"}


class SessionsPanel(FilterList):
    """A line for each session."""

    def __init__(self) -> None:
        super().__init__("Sessions", id="sessions", empty="none yet")
        self._seen: dict[str, SeenSession] = {}

    def show(self, sessions: Sequence[SeenSession], *, in_sight: str) -> None:
        """Show these. `in_sight` is the key of the one that is on the screen."""
        self._seen = {key_of(each): each for each in sessions}
        marks = {True: "● ", False: "  "}
        self.fill([(key, marks[key == in_sight] + each.name, about(each)) for key, each in self._seen.items()])

    def session(self, key: str) -> SeenSession | None:
        """The session of a line; None for one that is gone."""
        return self._seen.get(key)


class JobsPanel(FilterList):
    """A line for each job."""

    def __init__(self) -> None:
        super().__init__("Jobs", id="jobs", empty="none")
        self._jobs: dict[str, JobInfo] = {}

    def show(self, jobs: Sequence[JobInfo]) -> None:
        """Show these."""
        self._jobs = {job.id: job for job in jobs}
        self.fill([(job.id, job.id, _about_job(job)) for job in jobs])

    def job(self, key: str) -> JobInfo | None:
        """The job of a line; None for one that is gone."""
        return self._jobs.get(key)


def key_of(seen: SeenSession) -> str:
    """What tells a session from all others: its journal, or its name as long as it has none."""
    return str(seen.journal) if seen.journal is not None else f"{seen.where}:{seen.name}"


def about(seen: SeenSession) -> str:
    """Where it is, what it does, how much happened in it, and since when nothing has."""
    parts = [_WHERE[seen.where]]
    parts += ["busy"] if seen.busy else []
    parts += [f"{seen.cells} cell{'' if seen.cells == 1 else 's'}"]
    parts += [os.path.basename(seen.folder)] if seen.folder else []
    parts += [ago(time.time() - seen.last_used)] if seen.where == "past" and seen.last_used else []
    return " · ".join(parts)


def ago(seconds: float) -> str:
    """How long it is since, roughly: what is shown must not change at every look."""
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{int(seconds // unit)} {name} ago"
    return "just now"


def _about_job(job: JobInfo) -> str:
    return f"{job.outcome or job.state} · {job.seconds:.0f} s · {job.session} · {' '.join(job.title.split())[:60]}"
