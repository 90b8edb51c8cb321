"""`pisces notebook`: look at notebooks, change them, and run them, from a shell."""

import click

from pisces.cli.notebook_change import clear, delete, edit, insert, move, upgrade
from pisces.cli.notebook_look import diff, show
from pisces.cli.notebook_run import run


@click.group(short_help="Show, edit, run and compare Jupyter notebooks.")
def notebook() -> None:
    """Jupyter notebooks: look at them, change their cells, run them, compare them.

    A cell is named by its number, which counts from 0, or by its id; `show` tells both. Several cells are a range of
    numbers: 2-5, or 2- for all from there on. A change leaves every byte of the file that it is not about as it was.

    \b
      pisces notebook show analysis.ipynb
      pisces notebook edit analysis.ipynb 3
      pisces notebook run analysis.ipynb
      pisces notebook diff old.ipynb analysis.ipynb
    """


for _command in (show, edit, insert, delete, move, clear, run, upgrade, diff):
    notebook.add_command(_command)
