"""`pisces notebook run`: run cells of a notebook, show what they say, and have it in the file too."""

import os
from typing import Any, Final

import click

_EXIT_CODES: Final = """\b
Exit code:
  0    every cell went well
  1    a cell failed, its kernel crashed, or the outputs could not be written
  2    the command was used in a wrong way; nothing was run
  124  the time ran out
  130  interrupted with Ctrl+C (a second Ctrl+C ends at once)
"""


@click.command(epilog=_EXIT_CODES, short_help="Run cells; what they say goes into the file, too.")
@click.argument("path")
@click.argument("cells", required=False)
@click.option("--until", metavar="CELL", help="All cells up to this one.")
@click.option("--restart", is_flag=True, help="With --session: run from scratch, in the session NAME-clean beside it.")
@click.option("--keep-going", is_flag=True, help="Run the cells after a failed one too.")
@click.option("--session", metavar="NAME", help="Run in this session, which is there for the next command too.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=float,
    help="Time for everything together; the setting python.maxTimeout unless given, or 30 for one cell.",
)
@click.option("--cwd", metavar="DIR", help="The folder to run in, and whose settings and .venv count.")
@click.option("--interpreter", metavar="PYTHON", help="The Python to run the code with: a path or a command.")
@click.option("--kernel", metavar="NAME", help="A Jupyter kernelspec to run the code with, or a Python.")
@click.option(
    "--backend",
    type=click.Choice(["auto", "native", "gateway", "zmq"]),
    help="The kind of kernel, in place of the setting python.backend.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object, and nothing else.")
@click.option("--plain", is_flag=True, help="Text only, also at a terminal: no status, signs, colours or pictures.")
@click.option("--no-stream", is_flag=True, help="Print the result at the end, bounded, as an agent gets it.")
def run(
    path: str,
    cells: str | None,
    *,
    until: str | None,
    cwd: str | None,
    interpreter: str | None,
    backend: str | None,
    as_json: bool,
    plain: bool,
    no_stream: bool,
    **given: Any,
) -> int:
    """Run the code cells of a notebook in one kernel, and write their outputs into it as Jupyter would.

    CELLS is a number, an id, or a range such as 2-5; all unless given. The kernel works in the notebook's folder. The
    first cell that fails is the last that runs, unless it is tagged `raises-exception`; cells tagged `skip-execution`
    are passed over. Output is shown as it comes, and is in the file while a cell still runs.

    \b
      pisces notebook run analysis.ipynb
      pisces notebook run analysis.ipynb 2-5 --session s
      pisces notebook run analysis.ipynb --until 4f2a91c0 --timeout 3600

    Without --session the kernel ends with the command. With it the kernel stays: `pisces run --session s` finds the
    variables of the notebook, and the next `pisces notebook run --session s` goes on from there.
    """
    from pisces.cli.cells_to_run import CellsToRun, Show, from_here
    from pisces.cli.notebook_running import run_notebook

    if cells is not None and until is not None:
        raise click.UsageError("Give one of CELLS and --until.")
    settings = {"python.interpreter": interpreter and from_here(interpreter), "python.backend": backend}
    given["kernel"] = given["kernel"] and from_here(given["kernel"])
    given["cwd"] = cwd and os.path.abspath(cwd)
    show: Show = "json" if as_json else "whole" if no_stream else "live"
    wanted = CellsToRun(
        cwd=cwd,
        settings={name: value for name, value in settings.items() if value is not None},
        params={name: value for name, value in given.items() if value not in (None, False)},
        show=show,
        plain=plain,
        tool="notebook",
    )
    return run_notebook(path, cells, until, wanted)
