"""Commands on the state of the session in sight."""

from typing import TYPE_CHECKING

from pisces.tui.actions.naming import free_name, wrong_name
from pisces.tui.desk.sessions import host_sessions
from pisces.tui.dialogs.ask import Ask
from pisces.tui.dialogs.confirm import Confirm
from pisces.tui.dialogs.pick import Choice, Pick

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen


async def undo(screen: "MainScreen") -> None:
    """Take the last cell back."""
    if screen.may_change():
        await screen.desk.act("undo")


async def reset(screen: "MainScreen") -> None:
    """Begin with a fresh kernel, once the person has agreed to it."""
    if not screen.may_change():
        return
    question = f"Every variable of session {screen.desk.session!r} is dropped. Reset it?"
    if await screen.ask_about(screen.desk.timeline, Confirm(question, yes="Reset", no="Keep them")):
        await screen.desk.reset()


async def checkpoint(screen: "MainScreen") -> None:
    """Keep the state of now under a name."""
    if not screen.may_change():
        return
    question = Ask("Keep the state of now as", hint="a name for it", check=wrong_name)
    name = await screen.ask_about(screen.desk.timeline, question)
    if name:
        await screen.desk.act("checkpoint", name=name)


async def restore(screen: "MainScreen") -> None:
    """Go to a checkpoint that has a name."""
    if not screen.may_change():
        return
    desk, here = screen.desk, screen.desk.timeline
    info = next((each for each in await host_sessions(desk.link) if each.id == desk.session), None)
    if info is None or not info.checkpoints:
        screen.tell("There is no checkpoint with a name yet. Ctrl+S makes one; F8 takes the last cell back.")
        return
    choices = [Choice(each.name, each.name, f"after {each.cells} cells · {each.made}") for each in info.checkpoints]
    name = await screen.ask_about(here, Pick("Go to the state of", choices[::-1]))
    if name:
        await desk.act("restore", name=name)


async def branch(screen: "MainScreen") -> None:
    """A second session with the state of this one; it is in sight then."""
    if not screen.may_change():
        return
    desk, here = screen.desk, screen.desk.timeline
    taken = {each.id for each in await host_sessions(desk.link)}
    question = f"Branch off {desk.session!r}, as it is now, to a session named"
    asked = Ask(question, proposal=free_name(desk.session, taken), check=wrong_name)
    name = await screen.ask_about(here, asked)
    if name:
        made = await desk.act("branch", to=name)
        if made is not None and desk.timeline is here:  # Else the person has gone elsewhere meanwhile, and stays there.
            await screen.go_to(made.session or name)
