"""Commands on cells: run what is typed, stop what runs, take something along."""

from typing import TYPE_CHECKING

import anyio.to_thread

from pisces.tui.desk.body import load
from pisces.tui.desk.items import CellItem
from pisces.tui.history.words import output_text
from pisces.tui.keys import readable

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen


async def run(screen: "MainScreen") -> None:
    """Run what is in the editor."""
    if screen.may_change():
        screen.editor.action_submit()


async def background(screen: "MainScreen") -> None:
    """Run what is in the editor as a job."""
    if screen.may_change():
        screen.editor.action_submit(background=True)


async def interrupt(screen: "MainScreen") -> None:
    """Stop what runs; with nothing to stop, say how to leave: many press Ctrl+C for that."""
    desk = screen.desk
    if not desk.can_run:
        screen.tell("This session is only watched. What runs in it can be stopped by the program that runs it.")
    elif desk.busy:
        await desk.interrupt()
    elif selected := screen.editor.selected_text or screen.get_selected_text():
        screen.app.copy_to_clipboard(selected)
        screen.tell("Copied.")
    else:
        screen.tell(f"Nothing runs. {readable('ctrl+q')} leaves, and so does Ctrl+D while the editor is empty.")


async def copy_code(screen: "MainScreen") -> None:
    """The code of the newest cell, to the clipboard."""
    cell = newest_cell(screen)
    if cell is None:
        screen.tell("There is no cell yet.")
        return
    screen.app.copy_to_clipboard(cell.began.code)
    screen.tell("The code is on the clipboard.")


async def copy_output(screen: "MainScreen") -> None:
    """The text that the newest cell said, to the clipboard."""
    cell = newest_cell(screen)
    if cell is None:
        screen.tell("There is no cell yet.")
        return
    view = await anyio.to_thread.run_sync(load, cell)
    text = output_text(view)
    screen.app.copy_to_clipboard(text)
    screen.tell(f"{len(text)} characters are on the clipboard.")


def newest_cell(screen: "MainScreen") -> CellItem | None:
    """The newest cell of the session in sight."""
    return next((item for item in reversed(screen.desk.timeline.items) if isinstance(item, CellItem)), None)
