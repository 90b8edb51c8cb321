"""Commands on what is to be seen."""

from typing import TYPE_CHECKING

from pisces.tui.choices import Choices, remember
from pisces.tui.themes import THEMES

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen


async def variables(screen: "MainScreen") -> None:
    """The panel of variables."""
    screen.side.toggle("variables")


async def sessions(screen: "MainScreen") -> None:
    """The panel of sessions and jobs."""
    screen.side.toggle("sessions")


async def expand(screen: "MainScreen") -> None:
    """All of each cell, or the beginnings."""
    screen.history.toggle_expanded()


async def theme(screen: "MainScreen") -> None:
    """Light or dark, from now on and the next time."""
    now = "light" if screen.app.current_theme.dark else "dark"
    screen.app.theme = THEMES[now].name
    problem = remember(screen.desk.paths, Choices(theme="light" if now == "light" else "dark"))
    if problem:
        screen.tell(problem, severity="warning")
