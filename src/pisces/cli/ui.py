"""`pisces` without arguments, and `pisces ui`: the terminal UI, or the same in lines of text."""

import os
from typing import Literal

import click


@click.command(short_help="The terminal UI: what `pisces` alone starts.")
@click.argument("notebook", required=False)
@click.option("--session", metavar="NAME", help="The session to begin with; that of the folder unless given.")
@click.option("--plain", is_flag=True, help="Lines in, lines out: for screen readers, simple terminals and scripts.")
@click.option("--theme", type=click.Choice(["dark", "light"]), help="The colours: for a dark or a light background.")
@click.option("--cwd", metavar="DIR", help="The folder to work in, and whose settings and .venv count.")
@click.option("--interpreter", metavar="PYTHON", help="The Python to run the code with: a path or a command.")
def ui(
    notebook: str | None,
    *,
    session: str | None,
    plain: bool,
    theme: Literal["dark", "light"] | None,
    cwd: str | None,
    interpreter: str | None,
) -> int:
    """See sessions, and work in them: your own, and what agents do in theirs.

    `pisces` alone is the same, and so is `pisces NOTEBOOK.ipynb`, which opens a notebook. Cells run in the background
    host, so the session is still there when the UI has ended.

    \b
      pisces                           the session of this folder
      pisces --session s               the session that `pisces run --session s` uses
      pisces analysis.ipynb            a notebook, to edit and to run
      pisces --plain < cells.py        without a screen, from a file

    Where the screen cannot be drawn (no terminal, TERM=dumb, an encoding that is not UTF-8, textual not installed), it
    talks in lines of text as with --plain, and says why to a person.
    """
    from pisces.cli.cells_to_run import from_here
    from pisces.errors import InvalidCall
    from pisces.tui.options import UiOptions
    from pisces.tui.start import start

    folder = os.path.abspath(cwd or os.getcwd())
    if not os.path.isdir(folder):
        raise InvalidCall(f"There is no folder {folder}.", hint="Give --cwd a folder that is there.")
    settings: dict[str, object] = {} if interpreter is None else {"python.interpreter": from_here(interpreter)}
    opened = None if notebook is None else os.path.abspath(notebook)
    options = UiOptions(cwd=folder, session=session, notebook=opened, theme=theme, settings=settings)
    return start(options, plain=plain)
