"""Commands on sessions: go to another, begin one, close one, write one down."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from pisces.errors import PiscesError
from pisces.journal.export import export_notebook
from pisces.tui.actions.naming import free_name, wrong_name
from pisces.tui.desk.sessions import SeenSession
from pisces.tui.dialogs.ask import Ask
from pisces.tui.dialogs.confirm import Confirm
from pisces.tui.dialogs.pick import Choice, Pick
from pisces.tui.panels.sessions import about, key_of

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen


async def switch(screen: "MainScreen") -> None:
    """Go to another session."""
    sessions = {key_of(each): each for each in await screen.desk.sessions()}
    if not sessions:
        screen.tell("There is no other session yet. Ctrl+N begins one.")
        return
    choices = [Choice(key, each.name, about(each)) for key, each in sessions.items()]
    chosen = await screen.ask(Pick("Go to the session", choices))
    if chosen:
        screen.show_session(sessions[chosen])


async def new(screen: "MainScreen") -> None:
    """Begin a session. Its kernel starts with its first cell."""
    taken = {each.name for each in await screen.desk.sessions()}
    proposal = free_name(screen.desk.session, taken)
    name = await screen.ask(Ask("Begin a session named", proposal=proposal, check=wrong_name))
    if name:
        await screen.go_to(name)


async def close(screen: "MainScreen") -> None:
    """End the session in sight."""
    if screen.may_change():
        await close_session(screen, screen.desk.session)


async def close_session(screen: "MainScreen", name: str) -> None:
    """End a session of the host, once the person has agreed to it."""
    question = f"Close session {name!r}? Its variables are lost; what happened in it stays readable."
    if await screen.ask(Confirm(question, yes="Close it", no="Keep it")):
        if name == screen.desk.session:
            await screen.desk.act("close")
        else:
            await ask_host(screen, action="close", session=name)


async def cancel_job(screen: "MainScreen", job: str) -> None:
    """Stop a job, once the person has agreed to it."""
    if await screen.ask(Confirm(f"Cancel the job {job}?", yes="Cancel it", no="Let it run")):
        await ask_host(screen, action="cancel", job=job)


async def ask_host(screen: "MainScreen", **params: str) -> None:
    """Have something done to what is not in sight, and tell what became of it."""
    try:
        result = await screen.desk.link.call("session", params)
    except PiscesError as error:
        screen.tell(error.explain(), severity="error")
    else:
        screen.tell(result.text, severity="error" if result.is_error else "information")


async def export(screen: "MainScreen") -> None:
    """Write the session in sight as a notebook."""
    desk = screen.desk
    if desk.journal is None:
        screen.tell("Nothing has happened in this session yet, so there is nothing to write.")
        return
    folder, here = desk.options.cwd, desk.timeline
    proposal = f"{Path(desk.session).name}.ipynb"
    question = Ask(f"Write the session as a notebook in {folder}", proposal=proposal, check=_wrong_path)
    answer = await screen.ask_about(here, question)
    if not answer:
        return
    target = anyio.Path(_below(folder, answer))
    replace = Confirm(f"{target} is there already. Replace it?", yes="Replace it", no="Leave it")
    if await target.exists() and not await screen.ask_about(here, replace):
        return
    if desk.can_run:
        await desk.act("export", path=str(target))
    else:
        await _export_journal(screen, desk.journal, Path(target))


async def _export_journal(screen: "MainScreen", journal: Path, target: Path) -> None:
    """A session that is not the host's is written from its journal."""
    try:
        made = await anyio.to_thread.run_sync(export_notebook, journal, target)
    except PiscesError as error:
        screen.tell(error.explain(), severity="error")
    else:
        screen.tell(f"Wrote {made.cells} cells to {target}. F12 opens it.")


def _wrong_path(text: str) -> str:
    return "" if text.endswith(".ipynb") else "The name of a notebook ends with .ipynb."


def _below(folder: str, answer: str) -> str:
    return os.path.join(folder, os.path.expanduser(answer))


def unseen(name: str) -> SeenSession:
    """A session of the host in which nothing has happened yet."""
    return SeenSession(name=name, where="host", journal=None)
