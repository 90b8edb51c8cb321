"""`pisces notebook show` and `diff`: what is in notebooks."""

import click

_EXIT_CODES = """\b
Exit code:
  0  nothing differs
  1  something does
  2  the command was used in a wrong way, or a notebook cannot be read
"""


@click.command(short_help="Show cells and their outputs.")
@click.argument("path")
@click.argument("cells", required=False)
@click.option("--no-outputs", is_flag=True, help="Only the sources.")
@click.option("--full", is_flag=True, help="All of each output, not only 20 lines.")
@click.option("--plain", is_flag=True, help="Without colours and pictures, as when the output is no terminal.")
@click.option(
    "--pictures",
    type=click.Choice(["kitty", "iterm", "sixel", "blocks", "none"]),
    help="How this terminal shows pictures, where it does not say so itself.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the cells with all their outputs as one JSON object.")
def show(
    path: str,
    cells: str | None,
    *,
    no_outputs: bool,
    full: bool,
    plain: bool,
    pictures: str | None,
    as_json: bool,
) -> int:
    """Show the cells of a notebook: code in colours, markdown and tables laid out, and what each cell said.

    CELLS is a number, an id, or a range such as 2-5; all unless given. Pictures are shown by terminals that can (kitty,
    ghostty, iTerm2, WezTerm, foot) and drawn in coloured half blocks by others. Of an output, 20 lines are shown; of a
    traceback, the last 20.

    \b
      pisces notebook show analysis.ipynb
      pisces notebook show analysis.ipynb 2-5 --full
      pisces notebook show analysis.ipynb --no-outputs | less

    Notebooks in formats before nbformat 4 are shown too; `pisces notebook upgrade` makes them ones that can be changed.
    """
    from typing import cast

    from pisces.cli.notebook_showing import Look, show_notebook
    from pisces.render.screen import Pictures

    chosen = cast("Pictures | None", pictures)
    look = Look(outputs=not no_outputs, full=full, plain=plain, as_json=as_json, pictures=chosen)
    return show_notebook(path, cells, look)


@click.command(epilog=_EXIT_CODES, short_help="Compare two notebooks, cell by cell.")
@click.argument("old")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as one JSON object.")
def diff(old: str, new: str, *, as_json: bool) -> int:
    """Show what differs between two notebooks: cells that were added, removed, moved or changed.

    A cell is found again by its id, by its source, or by what is most alike. Sources are compared line by line, of
    metadata and outputs it is said what changed. Ids, execution counts and the notebook's own metadata do not count.

    \b
      pisces notebook diff old.ipynb new.ipynb
    """
    from pisces.cli.notebook_comparing import compare_notebooks

    return compare_notebooks(old, new, as_json=as_json)
