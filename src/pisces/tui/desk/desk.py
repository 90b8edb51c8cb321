"""What the person works at: the session that is in sight, what runs in it, and everything that can be done to it.

Screens and the plain mode show what is here and call what is here. Nothing here knows how it is shown.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pisces.errors import PiscesError
from pisces.model.completion import Completion
from pisces.model.events import Variable
from pisces.model.results import JobInfo, ToolResult
from pisces.model.sessions import SessionDetails, SessionInfo
from pisces.render.view import CellView, Notice
from pisces.settings.paths import Paths
from pisces.tui.desk.first_session import first_session
from pisces.tui.desk.following import Following
from pisces.tui.desk.host_link import LONG, HostLink
from pisces.tui.desk.items import LocalItem
from pisces.tui.desk.live import LiveText
from pisces.tui.desk.results import finished_command, tell_result, tell_untold
from pisces.tui.desk.runs import OwnRun, OwnRuns
from pisces.tui.desk.sessions import SeenSession, Where, host_sessions, seen_sessions, session_details
from pisces.tui.desk.timeline import Timeline
from pisces.tui.options import UiOptions

_SOON: Final = 0.2
_LATER: Final = 2.0
"""Seconds between two looks for the journal of the session in sight: while it is being made, and otherwise."""
_MOST_READS: Final = 1000
_LONGEST_COMMAND: Final = 3600
_MOST_FOLLOWED: Final = 8
"""Sessions of which what was seen is kept, for when the person comes back to them."""
_TOLD_BY_THE_JOURNAL: Final = ("undo", "restore", "checkpoint", "branch", "close")


class Desk:
    """One session in sight at a time. `changed` is called, in the event loop, when there is something new to see."""

    def __init__(self, options: UiOptions, *, changed: Callable[[], object] = lambda: None) -> None:
        self.options = options
        self.changed = changed
        self.environ: Mapping[str, str] = dict(os.environ)
        self.paths = Paths.locate(self.environ)
        self.link = HostLink(options.cwd, options.settings, self.environ)
        self.session = ""
        """The name of the session in sight."""
        self.where: Where = "host"
        self.unfinished = 0
        """How many things that were begun here would be interrupted if the UI ended now."""
        self._following = Following()
        self._followed: dict[tuple[str, Where, Path | None], Following] = {}
        self._runs = OwnRuns()
        self._look_at = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._troubles: set[str] = set()

    @property
    def timeline(self) -> Timeline:
        """What has happened in the session in sight."""
        return self._following.timeline

    @property
    def journal(self) -> Path | None:
        """The journal of the session in sight."""
        return self._following.journal

    @property
    def can_run(self) -> bool:
        """Whether cells can be run in the session in sight; those of other programs, and of the past, are watched."""
        return self.where == "host"

    @property
    def busy(self) -> bool:
        """Whether a cell runs in it, whoever began it, or something that was sent from here."""
        return bool(self._runs.of(self.timeline)) or self.timeline.running is not None

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Something that the end of the UI would interrupt goes on meanwhile."""
        self.unfinished += 1
        try:
            yield
        finally:
            self.unfinished -= 1

    async def begin(self) -> None:
        """Find the session to begin with. Nothing is started."""
        found = None
        name = self.options.session or first_session(self.options.cwd, ())
        try:
            hello = await self.link.hello()
            name = self.options.session or first_session(self.options.cwd, hello.sessions if hello else ())
            found = next((info for info in await host_sessions(self.link) if info.id == name), None)
        except PiscesError as error:
            trouble = error.explain()
        else:
            trouble = ""
        journal = Path(found.journal) if found is not None and found.journal else None
        self.switch(SeenSession(name=name, where="host", journal=journal))
        self._tell_trouble(trouble)

    def switch(self, seen: SeenSession) -> None:
        """Have another session in sight. What runs in the one before runs on."""
        self.session, self.where = seen.name, seen.where
        key = (seen.name, seen.where, None if seen.where == "host" else seen.journal)
        self._following = self._followed[key] = self._followed.pop(key) if key in self._followed else Following()
        while len(self._followed) > _MOST_FOLLOWED:
            del self._followed[next(iter(self._followed))]
        if seen.journal is not None:
            self._following.go_on_with(seen.journal)
        self._look_at = 0.0
        self.changed()

    def close(self) -> None:
        """Nobody looks any more: what was looked for beside is given up, and nobody is told of anything."""
        self.changed = lambda: None
        if self._looking is not None:
            self._looking.cancel()

    async def sessions(self) -> list[SeenSession]:
        """All that there are to look at. What the host cannot say of its own, their journals still tell."""
        infos: list[SessionInfo] = []
        try:
            infos = await host_sessions(self.link)
        except PiscesError as error:
            self._tell_trouble(error.explain())
        seen = await seen_sessions(infos, self.paths.journals)
        self._note_journal(seen)
        return seen

    def poll(self) -> bool:
        """Take in what has happened since the last time; whether there was anything. In the event loop."""
        self._look_for_journal()
        new = self._following.poll()
        if self.where == "elsewhere" and not self._following.is_written:
            self.where, new = "past", True  # The program that ran it has left it.
        if new:
            self.changed()
        return new

    async def run(self, code: str, *, background: bool = False, reset: bool = False) -> None:
        """Run code in the session in sight, and come back when it has run. What cannot be is said in the timeline.

        Several may be sent: they run in order.
        """
        params: dict[str, Any] = {"code": code, "session": self.session, "timeout": LONG}
        params |= {name: True for name, wanted in (("background", background), ("reset", reset)) if wanted}
        timeline, live = self.timeline, LiveText()
        expected = timeline.expect(code, live)
        own = OwnRun(timeline, self.link.begin("python", params, on_told=live.hear), live)
        with self.counted():  # Until it has ended, or is a job: what is read of it then can be left.
            result = await self._carry_out(own)
        self._look_at = 0.0
        await self._read_on(timeline)
        timeline.expect_no_more(expected)
        if result is not None:
            if timeline is self.timeline and not background:
                tell_untold(result, timeline, expected)
            tell_result(result, timeline)
        self.changed()

    async def run_shell(self, command: str) -> None:
        """Run a command of the shell in the folder of the UI, and come back when it has run."""
        live = LiveText()
        item = LocalItem(CellView(code=command, language="bash", status="running", began=time.time()), live)
        timeline = self.timeline
        timeline.add(item)
        self.changed()
        params = {"command": command, "cwd": self.options.cwd, "timeout": _LONGEST_COMMAND}
        call = self.link.begin("bash", params, on_told=live.hear)
        with self.counted():
            result = await self._carry_out(OwnRun(timeline, call, live, is_shell=True))
        from pisces.tools.base import error_result

        item.view = finished_command(item.view, result or error_result("The command could not be run."))
        item.live = None
        self.changed()

    async def interrupt(self) -> None:
        """Stop the cell that runs in the session in sight, whoever began it; once more, what waits behind it."""
        if not self._runs.stop(self.timeline) and self.timeline.running is not None and self.can_run:
            await self.act("interrupt")

    async def reset(self) -> None:
        """Begin with a fresh kernel."""
        await self.run("", reset=True)

    async def act(self, action: str, **params: Any) -> SessionDetails | None:
        """Do something to the session in sight, by the `session` tool; what it answers is said in the timeline.

        None when it could not be done.
        """
        timeline = self.timeline
        result = await self._manage(action, session=self.session, **params)
        details = None if result.is_error else session_details(result)
        if details is None or details.missing or action not in _TOLD_BY_THE_JOURNAL or self.journal is None:
            timeline.say(Notice("error" if result.is_error else "info", result.text))
        self.poll()
        self.changed()
        return details

    async def complete(self, code: str, cursor: int) -> Completion:
        """What could stand at the cursor, as the session in sight tells; nothing where cells cannot be run."""
        return await self.link.complete(self.session, code, cursor) if self.can_run else Completion()

    async def variables(self) -> list[Variable]:
        """What the namespace of the session in sight holds; nothing where that cannot be asked."""
        if not self.can_run or self.journal is None:
            return []
        result = await self._manage("variables", session=self.session)
        return [] if result.is_error else list(session_details(result).variables or ())

    async def jobs(self) -> list[JobInfo]:
        """The jobs of the host."""
        result = await self._manage("jobs")
        return [] if result.is_error else session_details(result).jobs

    async def _manage(self, action: str, **params: Any) -> ToolResult:
        try:
            return await self.link.call("session", {"action": action, **params})
        except PiscesError as error:
            from pisces.tools.base import error_result

            return error_result(error.explain())

    async def _carry_out(self, run: OwnRun) -> ToolResult | None:
        """The result of a call; None when it was refused, which has then been said."""
        self._runs.add(run)
        self._look_at = 0.0
        self.changed()
        try:
            await self._runs.turn_of(run)
            return await run.call.result()
        except PiscesError as error:
            run.timeline.say(Notice("error", error.explain()))
            return None
        finally:
            self._runs.remove(run)

    async def _read_on(self, timeline: Timeline) -> None:
        """Read what the journal has of a call that has just ended, if its session is still in sight."""
        await self._find_journal()
        for _ in range(_MOST_READS):
            if timeline is not self.timeline or not self.poll():
                break
            await asyncio.sleep(0)

    def _look_for_journal(self) -> None:
        """Ask the host, in a while, where what happens in the session in sight is written down."""
        if not self.can_run or time.monotonic() < self._look_at or (self._looking and not self._looking.done()):
            return
        if self.journal is not None and self._following.is_written:
            return
        self._look_at = time.monotonic() + (_SOON if self._runs.of(self.timeline) else _LATER)
        self._looking = asyncio.get_running_loop().create_task(self._find_journal())

    async def _find_journal(self) -> None:
        try:
            infos = await host_sessions(self.link)
        except PiscesError as error:
            self._tell_trouble(error.explain())
            return
        self._note_journal(
            SeenSession(name=info.id, where="host", journal=Path(info.journal)) for info in infos if info.journal
        )

    def _note_journal(self, seen: Iterable[SeenSession]) -> None:
        if self.can_run:
            for each in seen:
                if each.where == "host" and each.name == self.session and each.journal is not None:
                    self._following.go_on_with(each.journal)

    def _tell_trouble(self, text: str) -> None:
        """Once: what is asked again and again fails again and again."""
        if text and text not in self._troubles:
            self._troubles.add(text)
            self.timeline.say(Notice("error", text))
            self.changed()
