"""Every command of the UI and every key, in one table: bindings, palette, help and the manual are made of it."""

from typing import Final, Literal

import msgspec

Topic = Literal["Cells", "State", "Sessions", "Show", "Open", "Leave"]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be done from the main screen: `MainScreen` has a method of its name."""

    name: str
    title: str
    """For the palette and the foot of the screen."""
    help: str
    """One sentence."""
    topic: Topic
    keys: tuple[str, ...] = ()
    """As textual names them; those of widgets are in `WIDGET_KEYS`."""
    foot: str = ""
    """What the foot of the screen calls it; empty where it is not there."""
    always: bool = False
    """Whether its keys count before those of the widget that has the focus."""


class WidgetKey(msgspec.Struct, frozen=True):
    """A key that means something only where the focus is."""

    keys: str
    """As a person reads them."""
    help: str


COMMANDS: Final = (
    Command(name="run", title="Run", help="Run what is in the editor.", topic="Cells", keys=("f5",)),
    Command(
        name="background",
        title="Run in the background",
        help="Run what is in the editor as a job, and keep the prompt.",
        topic="Cells",
        keys=("f6",),
    ),
    Command(
        name="interrupt",
        title="Interrupt",
        help="Stop the cell that runs. What it has done so far stays.",
        topic="Cells",
        keys=("ctrl+c",),
        foot="Stop",
        always=True,
    ),
    Command(
        name="copy_code",
        title="Copy the last code",
        help="Put the code of the newest cell on the clipboard.",
        topic="Cells",
    ),
    Command(
        name="copy_output",
        title="Copy the last output",
        help="Put the text that the newest cell said on the clipboard.",
        topic="Cells",
    ),
    Command(
        name="undo",
        title="Undo",
        help="Take the last cell back: its variables are as before. Files and the network are not.",
        topic="State",
        keys=("f8",),
        foot="Undo",
        always=True,
    ),
    Command(
        name="branch",
        title="Branch",
        help="Make a second session with the state of this one, and go there.",
        topic="State",
        keys=("f10",),
        always=True,
    ),
    Command(
        name="checkpoint",
        title="Checkpoint",
        help="Keep the state of now under a name.",
        topic="State",
        keys=("ctrl+s",),
        always=True,
    ),
    Command(
        name="restore",
        title="Restore a checkpoint",
        help="Go to the state of a checkpoint that has a name.",
        topic="State",
        keys=("ctrl+l",),
        always=True,
    ),
    Command(
        name="reset",
        title="Reset",
        help="Begin with a fresh kernel; every variable is dropped.",
        topic="State",
        keys=("f9",),
        always=True,
    ),
    Command(
        name="switch",
        title="Switch session",
        help="Go to another session: of the background host, of another program, or of the past.",
        topic="Sessions",
        keys=("f4",),
        foot="Session",
        always=True,
    ),
    Command(
        name="new",
        title="New session",
        help="Begin another session; this one stays.",
        topic="Sessions",
        keys=("ctrl+n",),
        always=True,
    ),
    Command(
        name="close",
        title="Close the session",
        help="End the session and its kernel. What happened in it stays readable.",
        topic="Sessions",
    ),
    Command(
        name="export",
        title="Export to a notebook",
        help="Write the cells of the session, with their outputs, to an .ipynb.",
        topic="Sessions",
    ),
    Command(
        name="variables",
        title="Variables",
        help="Show, focus or hide the panel of variables.",
        topic="Show",
        keys=("f2",),
        foot="Variables",
        always=True,
    ),
    Command(
        name="sessions",
        title="Sessions and jobs",
        help="Show, focus or hide the panel of sessions and jobs.",
        topic="Show",
        keys=("f3",),
        foot="Sessions",
        always=True,
    ),
    Command(
        name="expand",
        title="Expand or collapse",
        help="Show all of each cell, or the beginnings.",
        topic="Show",
        keys=("ctrl+o",),
        foot="Expand",
        always=True,
    ),
    Command(
        name="theme",
        title="Light or dark",
        help="Change between the light and the dark theme; the choice is kept.",
        topic="Show",
        keys=("ctrl+t",),
        always=True,
    ),
    Command(
        name="artifact",
        title="Open a whole output",
        help="Read an artifact in a pager, with search.",
        topic="Open",
        keys=("ctrl+g",),
        always=True,
    ),
    Command(
        name="notebook",
        title="Open a notebook",
        help="See, edit and run the cells of an .ipynb in this session.",
        topic="Open",
        keys=("f12",),
        always=True,
    ),
    Command(name="help", title="Help", help="Every key.", topic="Open", keys=("f1",), foot="Help", always=True),
    Command(
        name="quit",
        title="Quit",
        help="Leave. The sessions of the background host stay.",
        topic="Leave",
        keys=("ctrl+q",),
        foot="Quit",
        always=True,
    ),
)

WIDGET_KEYS: Final[dict[str, tuple[WidgetKey, ...]]] = {
    "Everywhere": (
        WidgetKey("Ctrl+P", "The command palette: every command by its name."),
        WidgetKey("Tab, Shift+Tab", "Go to the next part of the screen, or back; in the editor, see there."),
        WidgetKey("Esc", "Close what is open above the rest; with nothing open, stop the cell that runs."),
    ),
    "Editor": (
        WidgetKey("Enter", "Run what is there when it is whole, else make a new line."),
        WidgetKey("Ctrl+J", "Make a new line, whole or not; Shift+Enter, too, where the terminal tells it from Enter."),
        WidgetKey("Tab", "Complete the name before the cursor; at the beginning of a line, indent."),
        WidgetKey("Shift+Tab", "Indent less; where nothing is indented, go back."),
        WidgetKey("Up, Down", "At the first or last line (with Ctrl, at any): what was typed before, or after it."),
        WidgetKey("Ctrl+R", "Search what was typed before."),
        WidgetKey("Ctrl+Z, Ctrl+Y", "Take back what was typed, or have it again."),
        WidgetKey("F7, Ctrl+X, Ctrl+V", "Select all, cut, paste."),
        WidgetKey("! command", "Run a command of the shell. `$ code` is code, as everything else is."),
    ),
    "History": (
        WidgetKey("Up, Down", "Select a cell."),
        WidgetKey("PageUp, PageDown, Home, End", "Scroll."),
        WidgetKey("Enter", "Show all of the selected cell, or its beginning."),
        WidgetKey("c", "Put its code into the editor."),
        WidgetKey("y", "Copy its output."),
        WidgetKey("o", "Open the whole output in a pager."),
        WidgetKey("i", "Show its picture as large as the screen."),
    ),
    "Panels": (
        WidgetKey("letters", "Show only what has them in it; Backspace takes one back."),
        WidgetKey("Enter", "Variables: put the name into the editor. Sessions and jobs: go to the session."),
        WidgetKey("Delete", "Sessions: close the session. Jobs: cancel the job."),
        WidgetKey("Esc", "Take the letters back, then leave the panel."),
    ),
}

_READABLE: Final = {"ctrl": "Ctrl", "shift": "Shift", "alt": "Alt", "escape": "Esc", "enter": "Enter"}


def readable(key: str) -> str:
    """A key as a person reads it: `ctrl+o` is `Ctrl+O`."""
    return "+".join(_READABLE.get(part) or part.upper() for part in key.split("+"))
