"""Leaving: what runs from here is asked about, and what stays is said."""

import shlex
from typing import TYPE_CHECKING

from rich.text import Text

from pisces.output.sanitize import clean
from pisces.tui.dialogs.confirm import Confirm

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen


async def quit_(screen: "MainScreen") -> None:
    """Leave the UI."""
    question = "What you ran from here has not ended, and would be interrupted. Quit?"
    if screen.desk.unfinished and not await screen.ask(Confirm(question, yes="Interrupt and quit", no="Stay")):
        return
    screen.app.exit(0, message=parting_words(screen))


def parting_words(screen: "MainScreen") -> Text | None:
    """What stays, how to come back to it, and how to end it, in one line; nothing where nothing is left."""
    desk = screen.desk
    if not desk.can_run or desk.journal is None:
        return None
    name = shlex.quote(clean(desk.session))
    said = f"Session {name} stays. Come back: pisces --session {name} · end it: pisces session close {name}"
    return Text(said)  # A name is no markup, and no emoji.
