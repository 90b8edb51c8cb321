"""`pisces notebook edit`, `insert`, `delete`, `move`, `clear` and `upgrade`: changes to a file, without a kernel."""

from typing import Final

import click

_TYPE: Final = click.option(
    "--type", "cell_type", type=click.Choice(["code", "markdown", "raw"]), help="The type that the cell is to have."
)
_CODE: Final = click.option("-c", "code", metavar="TEXT", help="The source.")
_FILE: Final = click.option("--file", metavar="FILE", help="A file with the source.")
_DASH: Final = click.argument("dash", metavar="[-]", required=False)
_EXIT_CODES: Final = """\b
Exit code:
  0  it was done
  1  the notebook or the cell is not there, or the file cannot be written; nothing was changed
  2  the command was used in a wrong way; nothing was changed
"""


@click.command(epilog=_EXIT_CODES, short_help="Replace the source of a cell.")
@click.argument("path")
@click.argument("cell")
@_DASH
@_CODE
@_FILE
@_TYPE
@click.option("--clear-outputs", is_flag=True, help="Clear the outputs of the cell too.")
def edit(
    path: str,
    cell: str,
    dash: str | None,
    *,
    code: str | None,
    file: str | None,
    cell_type: str | None,
    clear_outputs: bool,
) -> int:
    """Replace the source of CELL, which is its number or its id.

    On a terminal, and with no source given, your editor is opened ($VISUAL, else $EDITOR). `-` reads standard input.
    The newline at the end of a file or of standard input is not part of the source. Outputs stay as they are, unless
    they are to be cleared: run the cell to have new ones.

    \b
      pisces notebook edit analysis.ipynb 3
      pisces notebook edit analysis.ipynb 3 -c "print(df.head())"
      pisces notebook edit analysis.ipynb 4f2a91c0 --type markdown --file notes.md
      sed s/old/new/ cell.py | pisces notebook edit analysis.ipynb 3 -
    """
    from pisces.cli.notebook_changing import at_cell, change, edit_by_hand
    from pisces.cli.notebook_content import can_edit, given_content

    more = {"cell_type": cell_type, "clear_outputs": clear_outputs or None}
    content = given_content(code, file, dash)
    if content is not None:
        return change(path, "edit", at_cell(path, cell), content=content, **more)
    if not can_edit():
        raise click.UsageError("There is no terminal for an editor: give the source with -c, as a --file, or as -.")
    return edit_by_hand(path, cell, **more)


@click.command(epilog=_EXIT_CODES, short_help="Add a cell.")
@click.argument("path")
@_DASH
@click.option("--at", metavar="N", type=click.IntRange(min=0), help="The number that the new cell is to have.")
@click.option("--after", metavar="CELL", help="The cell that it is to follow.")
@click.option("--new", is_flag=True, help="Make the notebook, if it is not there.")
@_CODE
@_FILE
@_TYPE
def insert(
    path: str,
    dash: str | None,
    *,
    at: int | None,
    after: str | None,
    new: bool,
    code: str | None,
    file: str | None,
    cell_type: str | None,
) -> int:
    """Add a cell to a notebook: at its end unless --at or --after says where, and code unless --type says what.

    On a terminal, and with no source given, your editor is opened. `-` reads standard input.

    \b
      pisces notebook insert analysis.ipynb -c "df.describe()"
      pisces notebook insert analysis.ipynb --at 0 --type markdown -c "# Analysis"
      pisces notebook insert analysis.ipynb --after 4f2a91c0 --file step.py
      pisces notebook insert new.ipynb --new -c "import pandas as pd"
    """
    from pisces.cli.notebook_changing import at_new, change, insert_by_hand, make_notebook
    from pisces.cli.notebook_content import can_edit, given_content

    if at is not None and after is not None:
        raise click.UsageError("Give one of --at and --after.")
    content = given_content(code, file, dash)
    if new and (content is not None or can_edit()):
        make_notebook(path)
    if content is not None:
        return change(path, "insert", at_new(path, at, after), content=content, cell_type=cell_type)
    if not can_edit():
        raise click.UsageError("There is no terminal for an editor: give the source with -c, as a --file, or as -.")
    return insert_by_hand(path, at, after, cell_type)


@click.command(epilog=_EXIT_CODES, short_help="Take a cell out.")
@click.argument("path")
@click.argument("cell")
def delete(path: str, cell: str) -> int:
    """Take CELL, which is its number or its id, out of a notebook.

    \b
      pisces notebook delete analysis.ipynb 3
    """
    from pisces.cli.notebook_changing import at_cell, change

    return change(path, "delete", at_cell(path, cell))


@click.command(epilog=_EXIT_CODES, short_help="Put a cell elsewhere.")
@click.argument("path")
@click.argument("cell")
@click.argument("to", type=click.IntRange(min=0))
def move(path: str, cell: str, to: int) -> int:
    """Put CELL, which is its number or its id, where its number is TO afterwards.

    \b
      pisces notebook move analysis.ipynb 7 2
    """
    from pisces.cli.notebook_changing import at_cell, change

    return change(path, "move", at_cell(path, cell), to_index=to)


@click.command(epilog=_EXIT_CODES, short_help="Clear outputs.")
@click.argument("path")
@click.argument("cells", required=False)
def clear(path: str, cells: str | None) -> int:
    """Clear the outputs and the execution counts of all cells, or of CELLS: a number, an id, or a range such as 2-5.

    \b
      pisces notebook clear analysis.ipynb
      pisces notebook clear analysis.ipynb 2-5
    """
    from pisces.cli.notebook_changing import at_cells, change

    return change(path, "clear", at_cells(path, cells))


@click.command(epilog=_EXIT_CODES, short_help="Write a notebook in nbformat 4.5.")
@click.argument("path")
@click.option("--output", metavar="FILE", help="Write it there, and leave the notebook as it is.")
def upgrade(path: str, output: str | None) -> int:
    """Write a notebook of an older format (nbformat 1 to 4.4) in nbformat 4.5, in which every cell has an id.

    Formats before 4 can be shown, but not changed or run, until they have been upgraded. What the new format has no
    place for is kept in the metadata, under `before_upgrade`.

    \b
      pisces notebook upgrade old.ipynb
      pisces notebook upgrade old.ipynb --output new.ipynb
    """
    from pisces.cli.notebook_upgrading import upgrade_notebook

    return upgrade_notebook(path, output)
