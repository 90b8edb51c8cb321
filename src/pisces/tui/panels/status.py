"""The line at the head of the screen, and below it what became of the state, for as long as it may be overlooked."""

import os
import time
from typing import Final

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from pisces.render.notices import clean_text
from pisces.render.shown_text import one_line
from pisces.render.view import TITLES, Notice
from pisces.tui.desk.desk import Desk
from pisces.tui.desk.sessions import Where

_WHERE: Final[dict[Where, str]] = {
    "host": "background host",
    "elsewhere": "WATCHING another program",
    "past": "of the PAST",
}
_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FLASHES: Final = 8
_FLASH_SECONDS: Final = 0.3


class StatusBar(Static):
    """Which session it is, where it is, and what it does."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(id="status")
        self._desk = desk
        self._shown = ""

    def tick(self) -> None:
        """Show how things stand; nothing is drawn where nothing has changed."""
        text = self._text()
        if text != self._shown:
            self._shown = text
            self.update(Content(text))

    def _text(self) -> str:
        desk = self._desk
        folder = os.path.basename(desk.options.cwd) or desk.options.cwd
        parts = [one_line(desk.session) or "…", self._doing(), _WHERE[desk.where], one_line(folder)]
        return " · ".join(parts)

    def _doing(self) -> str:
        running, waiting = self._desk.timeline.running, self._desk.timeline.waiting
        if running is not None:
            seconds = max(0.0, time.time() - running.began.time)
            behind_it = f", {waiting} waiting" if waiting else ""
            return f"{_SPINNER[int(seconds * 8) % len(_SPINNER)]} running {seconds:.0f} s{behind_it}"
        return "waiting" if self._desk.busy else "idle"


class StateBar(Static):
    """What became of the state. It flashes at first, and stays until the person runs something or presses Esc."""

    def __init__(self) -> None:
        super().__init__(id="state")
        self.display = False
        self._flashes = 0
        self._timer: Timer | None = None

    def tell(self, notice: Notice) -> bool:
        """Show a notice if it is of the kind that nobody may overlook; whether it is."""
        if notice.kind not in TITLES:
            return False
        self.update(Content(" ".join(clean_text(notice.titled).split())))
        self.set_class(notice.kind == "restored", "-restored")
        self.display, self._flashes = True, _FLASHES
        if self._timer is None:
            self._timer = self.set_interval(_FLASH_SECONDS, self._flash)
        return True

    def hush(self) -> bool:
        """It has been seen; whether there was anything."""
        was, self.display = self.display, False
        return was

    def _flash(self) -> None:
        self._flashes -= 1
        self.set_class(self._flashes % 2 == 1, "-flash")
        if self._flashes <= 0 and self._timer is not None:
            self._timer.stop()
            self._timer = None
