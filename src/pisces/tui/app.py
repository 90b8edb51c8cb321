"""The app: one desk, the main screen above which others are laid, the theme, and what becomes of errors."""

import time
from collections.abc import Iterable
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, SystemCommand
from textual.screen import Screen
from textual.worker import WorkerFailed

from pisces.output.sanitize import clean
from pisces.render.notices import clean_text
from pisces.settings.switches import read_switches
from pisces.tui.choices import chosen
from pisces.tui.desk.desk import Desk
from pisces.tui.main_screen import MainScreen
from pisces.tui.mishaps import told
from pisces.tui.options import UiOptions
from pisces.tui.panels.picture import get_ready
from pisces.tui.themes import THEMES

_TOLD_FOR: Final = 20.0
"""Seconds that it is to be seen that something went wrong, and for which it is not told again."""


class PiscesApp(App[int]):
    """The terminal UI."""

    TITLE = "Pisces"
    CSS_PATH = "app.tcss"
    COMMAND_PALETTE_DISPLAY: ClassVar[str | None] = "Ctrl+P"

    def __init__(self, options: UiOptions) -> None:
        super().__init__()
        # What is said at the end has commands and paths in it: broken into lines here, they could not be copied.
        self.error_console.soft_wrap = True
        self.desk = Desk(options)
        self._mishaps: dict[str, float] = {}
        """When something that went wrong was told last, by what it was."""
        get_ready(self.desk.environ)
        for theme in THEMES.values():
            self.register_theme(theme)
        self.theme = THEMES[options.theme or chosen(self.desk.paths).theme].name

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _: self.screen.refresh())  # A terminal that was lent is empty.

    def get_default_screen(self) -> Screen[None]:
        return MainScreen(self.desk)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """None of the toolkit's own: those that make sense here are in our table, with their keys."""
        return ()

    def action_help_quit(self) -> None:
        self.notify("Ctrl+Q leaves.", markup=False)

    async def action_quit(self) -> None:
        """Ctrl+Q: from the main screen it leaves; what lies above that is closed first."""
        screen = self.screen
        if isinstance(screen, MainScreen):
            screen.action_do("quit")
        elif hasattr(screen, "action_leave"):
            await screen.run_action("leave")
        else:
            self.pop_screen()

    def tell_mishap(self, error: BaseException) -> None:
        """Something went wrong that can be lived with: it is kept in the log, and told."""
        now, what = time.monotonic(), f"{type(error).__name__}: {error}"
        if now - self._mishaps.get(what, -_TOLD_FOR) >= _TOLD_FOR:  # What the clock meets, it meets at each tick.
            self._mishaps[what] = now
            said = told(error, self.desk.paths, self.desk.environ)
            self.notify(clean_text(said), severity="error", markup=False, timeout=_TOLD_FOR)

    def _handle_exception(self, error: Exception) -> None:
        """An exception in a worker ends that worker; any other one ends the app, with a sentence."""
        if read_switches(self.desk.environ).debug:
            super()._handle_exception(error)
        elif isinstance(error, WorkerFailed):
            self.tell_mishap(error.error)
        else:
            self._return_code = 1
            if self._exception is None:
                self._exception = error  # Where a test waits for it, as textual has it.
                self._exception_event.set()
            said = clean(told(error, self.desk.paths, self.desk.environ))
            self.panic(Text(said))
