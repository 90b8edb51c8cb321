"""Which function a command of the table is."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from pisces.tui.actions import cells, leaving, opening, sessions, showing, state

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen

Doing = Callable[["MainScreen"], Awaitable[None]]

DOING: Final[dict[str, Doing]] = {
    "run": cells.run,
    "background": cells.background,
    "interrupt": cells.interrupt,
    "copy_code": cells.copy_code,
    "copy_output": cells.copy_output,
    "undo": state.undo,
    "branch": state.branch,
    "checkpoint": state.checkpoint,
    "restore": state.restore,
    "reset": state.reset,
    "switch": sessions.switch,
    "new": sessions.new,
    "close": sessions.close,
    "export": sessions.export,
    "variables": showing.variables,
    "sessions": showing.sessions,
    "expand": showing.expand,
    "theme": showing.theme,
    "artifact": opening.artifact,
    "notebook": opening.notebook,
    "help": opening.help_,
    "quit": leaving.quit_,
}
"""By the name of the command."""
