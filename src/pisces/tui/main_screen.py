"""The main screen: the history, the editor and what stands beside them; which key does what, and who is told."""

import time
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from weakref import WeakKeyDictionary

import anyio
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Footer, Static

from pisces.errors import PiscesError
from pisces.render.notices import clean_text
from pisces.tui.actions.opening import open_artifact, open_notebook
from pisces.tui.actions.sessions import cancel_job, close_session, unseen
from pisces.tui.actions.table import DOING
from pisces.tui.commands import PiscesCommands
from pisces.tui.desk.desk import Desk
from pisces.tui.desk.items import CellItem, NoticeItem
from pisces.tui.desk.sessions import SeenSession
from pisces.tui.desk.timeline import Timeline
from pisces.tui.desk.typed import Typed
from pisces.tui.dialogs.dialog import Dialog
from pisces.tui.editor.editor import Editor
from pisces.tui.editor.past_inputs import PastInputs
from pisces.tui.history.history import History
from pisces.tui.keys import COMMANDS
from pisces.tui.panels.filter_list import FilterList
from pisces.tui.panels.picture import PictureScreen
from pisces.tui.panels.refreshing import Refreshing
from pisces.tui.panels.sessions import JobsPanel, SessionsPanel
from pisces.tui.panels.side import Side
from pisces.tui.panels.status import StateBar, StatusBar
from pisces.tui.panels.variables import VariablesPanel

if TYPE_CHECKING:
    from pisces.tui.app import PiscesApp

_Answer = TypeVar("_Answer")

_POLL_SECONDS: Final = 0.1
_TYPED_BEFORE: Final = "ui-history.jsonl"
_FIRST: Final = ("help", "quit")
"""What the foot of the screen has even where it is very short."""
_WATCHED: Final = {
    "elsewhere": "You watch a session of another program: what runs in it is shown, and nothing can be run from here. "
    "F4 goes to another session; Ctrl+P, then Export, writes its cells to a notebook that you can run in yours.",
    "past": "This session is over. F4 goes to another one; Ctrl+P, then Export, writes its cells to a notebook.",
}


def _bindings() -> list[BindingType]:
    made = [
        Binding(
            ",".join(command.keys),
            f"do('{command.name}')",
            command.foot or command.title,
            show=bool(command.foot),
            priority=command.always,
        )
        for command in sorted(COMMANDS, key=lambda each: each.name not in _FIRST)
        if command.keys
    ]
    return [
        *made,
        Binding("ctrl+d", "quit_if_empty", show=False, priority=True),
        Binding("escape", "step_back", show=False),
        Binding("question_mark", "do('help')", show=False),
    ]


class MainScreen(Screen[None]):
    """What is seen first, and most."""

    app: "PiscesApp"
    BINDINGS: ClassVar[list[BindingType]] = _bindings()
    COMMANDS: ClassVar[set[Any]] = {PiscesCommands}

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._begun = anyio.Event()
        self._since = time.time()
        self._shown: Timeline | None = None
        self._was_where = desk.where
        self._told: WeakKeyDictionary[Timeline, int] = WeakKeyDictionary()
        """How many items of each timeline have been looked at for what became of the state."""
        self._refreshing = Refreshing(self)

    @property
    def history(self) -> History:
        """What happened."""
        return self.query_one(History)

    @property
    def editor(self) -> Editor:
        """Where the person types."""
        return self.query_one(Editor)

    @property
    def side(self) -> Side:
        """What stands beside."""
        return self.query_one(Side)

    def compose(self) -> ComposeResult:
        yield StatusBar(self.desk)
        yield StateBar()
        with Horizontal(id="body"):
            with Vertical(id="work"):
                yield History(id="history")
                yield Static(id="watched")
                past = PastInputs(self.desk.paths.agent / _TYPED_BEFORE, session=self._codes)
                yield Editor(complete=self.desk.complete, past=past, id="editor")
            yield Side()
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.side.fit(self.app.size.width)
        self.editor.focus()
        self.do(self._begin())

    def on_unmount(self) -> None:
        self.desk.close()

    async def _begin(self) -> None:
        try:
            await self.desk.begin()
        finally:
            typed = self.editor.text
            self.desk.changed = self._show_changes
            self._show_changes()
            if typed:
                self.editor.take(typed)  # It was for the session to begin with, whichever that is.
            self.set_interval(_POLL_SECONDS, self._tick)
            self._begun.set()
        if self.desk.options.notebook is not None:
            open_notebook(self, self.desk.options.notebook)

    def on_resize(self, event: events.Resize) -> None:
        self.side.fit(event.size.width)

    # What is done ------------------------------------------------------------------------------------------------

    def action_do(self, name: str) -> None:
        """Carry out a command of the table."""
        self.do(DOING[name](self))

    def do(self, doing: Awaitable[None]) -> None:
        """Carry something out beside the screen; what goes wrong is told."""
        self.run_worker(self._carefully(doing), exit_on_error=False)

    async def _carefully(self, doing: Awaitable[None]) -> None:
        try:
            await doing
        except PiscesError as error:
            self.tell(error.explain(), severity="error")
        except Exception as error:  # noqa: BLE001 - the person can go on; the log has it
            self.app.tell_mishap(error)

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.query_one(StateBar).hush()
        self.do(self._run(message.typed, background=message.background))

    async def _run(self, typed: Typed, *, background: bool) -> None:
        with self.desk.counted():
            await self._begun.wait()
        if typed.kind == "shell":
            await self.desk.run_shell(typed.text)
        else:
            await self.desk.run(typed.text, background=background)

    # What is asked and told --------------------------------------------------------------------------------------

    async def ask(self, question: Dialog[_Answer]) -> _Answer | None:
        """Ask the person; None when they went away from it."""
        return await self.app.push_screen_wait(question)

    async def ask_about(self, here: Timeline, question: Dialog[_Answer]) -> _Answer | None:
        """Ask about what is in sight; None too when something else is by the time of the answer, which is then said."""
        answer = await self.ask(question)
        if answer and self.desk.timeline is not here:
            self.tell("Another session has come in sight meanwhile: nothing was done.", severity="warning")
            return None
        return answer

    def tell(self, text: str, *, severity: SeverityLevel = "information") -> None:
        """Say something in passing."""
        self.notify(clean_text(text), severity=severity, markup=False, timeout=5 if severity == "information" else 12)

    def may_change(self) -> bool:
        """Whether the session in sight can be changed from here; where not, it is said."""
        self.query_one(StateBar).hush()  # Who goes on from a state has seen what became of it.
        if not self.desk.can_run:
            self.tell("This session is only watched: nothing can be changed in it from here.", severity="warning")
        return self.desk.can_run

    # What is in sight --------------------------------------------------------------------------------------------

    async def go_to(self, name: str) -> None:
        """Have a session of the host in sight, one that is there or one to be."""
        sessions = await self.desk.sessions()
        here = (each for each in sessions if each.where == "host" and each.name == name)
        self.show_session(next(here, unseen(name)))

    def show_session(self, seen: SeenSession) -> None:
        """Have this session in sight."""
        self.query_one(StateBar).hush()
        self.desk.switch(seen)
        self.side.leave()
        self.action_focus_editor()

    def action_focus_editor(self) -> None:
        """Go to where the person types; in a session that is only watched, to its history."""
        (self.editor if self.desk.can_run else self.history).focus()

    def action_step_back(self) -> None:
        """Esc: close what is open, or take note of what was said; with neither, stop what runs."""
        if not self.side.leave() and not self.query_one(StateBar).hush() and self.desk.busy:
            self.action_do("interrupt")
        self.action_focus_editor()

    def action_quit_if_empty(self) -> None:
        """Ctrl+D, as shells have it."""
        self.action_do("quit")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "quit_if_empty" and self.editor.text)

    def _tick(self) -> None:
        try:
            self.desk.poll()
            self.query_one(StatusBar).tick()
            self._refreshing.tick()
        except Exception as error:  # noqa: BLE001 - the clock has to go on; the log has it
            self.app.tell_mishap(error)

    def _show_changes(self) -> None:
        timeline = self.desk.timeline
        if timeline is not self._shown:
            self._shown = timeline
            self.history.show(timeline)
            self._show_which_it_is()
        else:
            self.history.changed()
            if self.desk.where != self._was_where:
                self._show_which_it_is()
        self._tell_what_became_of_the_state(timeline)
        self.query_one(StatusBar).tick()

    def _show_which_it_is(self) -> None:
        can_run, self._was_where = self.desk.can_run, self.desk.where
        self.editor.work_at(self.desk.session)
        watched = self.query_one("#watched", Static)
        watched.display, self.editor.display = not can_run, can_run
        watched.update("" if can_run else _WATCHED[self.desk.where])

    def _tell_what_became_of_the_state(self, timeline: Timeline) -> None:
        new = timeline.items[self._told.get(timeline, 0) :]
        self._told[timeline] = len(timeline.items)
        for item in new:
            # What happened before the UI was there is in the history; at the head it would be taken for news.
            if isinstance(item, NoticeItem) and not 0 < item.time < self._since:
                self.query_one(StateBar).tell(item.notice)

    def _codes(self) -> Iterable[str]:
        """What was run in the session in sight, the newest first."""
        return (item.began.code for item in reversed(self.desk.timeline.items) if isinstance(item, CellItem))

    # What the history and the panels say -----------------------------------------------------------------------------

    def on_history_artifact_wanted(self, message: History.ArtifactWanted) -> None:
        open_artifact(self, message.id)

    def on_history_picture_wanted(self, message: History.PictureWanted) -> None:
        self.app.push_screen(PictureScreen(message.image))

    def on_history_code_wanted(self, message: History.CodeWanted) -> None:
        if self.desk.can_run:
            self.editor.take(message.code)
        else:
            self.app.copy_to_clipboard(message.code)
            self.tell("Nothing can be run in this session from here, so the code is on the clipboard.")

    def on_option_list_option_selected(self, message: FilterList.OptionSelected) -> None:
        key = message.option_id or ""
        panel = message.option_list
        if isinstance(panel, VariablesPanel):
            self.side.leave()
            self.editor.insert(key)
            self.action_focus_editor()
        elif isinstance(panel, SessionsPanel) and (seen := panel.session(key)) is not None:
            self.show_session(seen)
        elif isinstance(panel, JobsPanel) and (job := panel.job(key)) is not None:
            self.do(self.go_to(job.session))

    def on_filter_list_dropped(self, message: FilterList.Dropped) -> None:
        panel, key = message.list, message.key
        if isinstance(panel, JobsPanel):
            self.do(cancel_job(self, key))
        elif isinstance(panel, SessionsPanel) and (seen := panel.session(key)) is not None:
            if seen.where == "host":
                self.do(close_session(self, seen.name))
            else:
                self.tell("Only sessions of the background host can be closed from here.", severity="warning")

    def on_filter_list_left(self) -> None:
        self.side.leave()
        self.action_focus_editor()
