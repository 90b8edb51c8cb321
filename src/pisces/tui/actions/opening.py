"""Commands that open something on a screen of its own: a whole output, a notebook, help."""

import os
import time
from typing import TYPE_CHECKING, Final

import anyio.to_thread

from pisces.output.artifact_file import state_of
from pisces.output.artifacts import ArtifactStore
from pisces.tui.dialogs.pick import Choice, Pick
from pisces.tui.help import HelpScreen
from pisces.tui.panels.sessions import ago

if TYPE_CHECKING:
    from pisces.tui.main_screen import MainScreen

_MOST_ARTIFACTS: Final = 200
_MOST_NOTEBOOKS: Final = 500
_MOST_FOLDERS: Final = 2000
"""A folder tree is walked so far for notebooks: a home folder must not keep the person waiting."""
_NOT_LOOKED_INTO: Final = frozenset({"node_modules", "__pycache__", "site-packages"})


async def help_(screen: "MainScreen") -> None:
    """Every key."""
    screen.app.push_screen(HelpScreen())


async def artifact(screen: "MainScreen") -> None:
    """Pick an artifact, or name one by its number."""
    store = ArtifactStore(screen.desk.paths.artifacts)
    choices = await anyio.to_thread.run_sync(_artifacts, store)
    chosen = await screen.ask(Pick("Open the whole output", choices, free=True, hint="find one, or type its number"))
    if chosen:
        open_artifact(screen, chosen.removeprefix("artifact://"))


def open_artifact(screen: "MainScreen", number: str) -> None:
    """Show an artifact in the pager."""
    from pisces.tui.pager.screen import PagerScreen

    screen.app.push_screen(PagerScreen(ArtifactStore(screen.desk.paths.artifacts), number))


async def notebook(screen: "MainScreen") -> None:
    """Pick a notebook below the folder, or name one."""
    choices = await anyio.to_thread.run_sync(notebooks_below, screen.desk.options.cwd)
    chosen = await screen.ask(Pick("Open the notebook", choices, free=True, hint="find one, or type a path"))
    if chosen:
        open_notebook(screen, chosen)


def open_notebook(screen: "MainScreen", path: str) -> None:
    """Show a notebook, whose cells run in the session in sight."""
    from pisces.tui.notebook.screen import NotebookScreen

    full = os.path.join(screen.desk.options.cwd, os.path.expanduser(path))
    screen.app.push_screen(NotebookScreen(screen.desk, full))


def notebooks_below(folder: str) -> list[Choice]:
    """The notebooks below a folder, as far as it is looked into."""
    found: list[Choice] = []
    for number, (at, folders, files) in enumerate(os.walk(folder)):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_LOOKED_INTO)
        for name in sorted(files):
            if name.endswith(".ipynb"):
                path = os.path.relpath(os.path.join(at, name), folder)
                found.append(Choice(path, path))
        if number >= _MOST_FOLDERS or len(found) >= _MOST_NOTEBOOKS:
            break
    return found[:_MOST_NOTEBOOKS]


def _artifacts(store: ArtifactStore) -> list[Choice]:
    choices = []
    for path in store.files()[:_MOST_ARTIFACTS]:
        try:
            state = state_of(path)
        except OSError:
            continue  # Pruned since it was listed.
        number, _, kind = path.name.partition(".")
        more = f"{kind} · {_size(state.size)} · {path.parent.name} · {ago(time.time() - state.modified)}"
        choices.append(Choice(number, number, more))
    return choices


def _size(number: float) -> str:
    for unit in ("B", "KB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
