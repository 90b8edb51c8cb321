"""When the panels ask anew: variables after each cell, sessions and jobs every other second, and only if seen."""

import time
from typing import TYPE_CHECKING, Final

from pisces.tui.panels.sessions import JobsPanel, SessionsPanel, key_of
from pisces.tui.panels.variables import VariablesPanel

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen

_SESSIONS_SECONDS: Final = 2.0


class Refreshing:
    """Asks for one thing at a time: an answer that is slow to come keeps the next question waiting, not the keys."""

    def __init__(self, screen: "MainScreen") -> None:
        self._screen = screen
        self._asking: set[str] = set()
        self._variables_of: tuple[object, ...] = ()
        self._sessions_at = 0.0

    def tick(self) -> None:
        """Ask for what is due."""
        side, desk = self._screen.side, self._screen.desk
        if side.is_shown("variables") and "variables" not in self._asking:
            now = (desk.session, desk.where, desk.journal, len(desk.timeline.items), desk.timeline.running)
            if now != self._variables_of:
                self._variables_of = now
                self._asking.add("variables")
                self._screen.do(self._variables())
        due = time.monotonic() - self._sessions_at >= _SESSIONS_SECONDS
        if due and side.is_shown("sessions") and "sessions" not in self._asking:
            self._asking.add("sessions")
            self._screen.do(self._sessions())

    async def _variables(self) -> None:
        try:
            desk = self._screen.desk
            session = desk.session
            found = await desk.variables()
            if desk.session == session:
                running, known = desk.can_run and desk.timeline.running is not None, desk.can_run
                self._screen.query_one(VariablesPanel).show(found, running=running, known=known)
        finally:
            self._asking.discard("variables")

    async def _sessions(self) -> None:
        try:
            desk = self._screen.desk
            found = await desk.sessions()
            jobs = await desk.jobs() if any(each.where == "host" for each in found) else []
            here = (each for each in found if each.where == "host" and each.name == desk.session)
            in_sight = next(map(key_of, here), "") if desk.can_run else str(desk.journal)
            self._screen.query_one(SessionsPanel).show(found, in_sight=in_sight)
            self._screen.query_one(JobsPanel).show(jobs)
        finally:
            self._sessions_at = time.monotonic()
            self._asking.discard("sessions")
