"""`pisces run`: run cells and show what they say while they say it."""

import os

import click

_EXIT_CODES = """\b
Exit code:
  0    every cell went well
  1    a cell failed, or its kernel crashed
  2    the command was used in a wrong way; nothing was run
  124  the time ran out
  130  interrupted with Ctrl+C (a second Ctrl+C ends at once)
"""


@click.command(
    epilog=_EXIT_CODES,
    short_help="Run Python code, cell by cell.",
)
@click.argument("file", required=False)
@click.option("-c", "codes", metavar="CODE", multiple=True, help="Code to run; each -c is a cell of its own.")
@click.option("--cwd", metavar="DIR", help="The folder to run in, and whose settings and .venv count.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=float,
    help="Time for everything together: 30 unless given, at least 1, at most the setting python.maxTimeout.",
)
@click.option("--session", metavar="NAME", help="Run in this session, which is there for the next command too.")
@click.option("--background", is_flag=True, help="With --session: do not wait; `pisces session wait` does.")
@click.option("--reset", is_flag=True, help="Begin with a fresh kernel.")
@click.option("--interpreter", metavar="PYTHON", help="The Python to run the code with: a path or a command.")
@click.option(
    "--kernel", metavar="NAME", help="A Jupyter kernelspec to run the code with, in whatever language; or a Python."
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "native", "gateway", "zmq"]),
    help="The kind of kernel, in place of the setting python.backend.",
)
@click.option("--keep-going", is_flag=True, help="Run the cells after a failed one too.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object, and nothing else.")
@click.option("--plain", is_flag=True, help="Text only, also at a terminal: no status, signs, colours or pictures.")
@click.option("--no-stream", is_flag=True, help="Print the result at the end, bounded, as an agent gets it.")
def run(
    file: str | None,
    codes: tuple[str, ...],
    cwd: str | None,
    timeout: float | None,
    *,
    session: str | None,
    background: bool,
    reset: bool,
    interpreter: str | None,
    kernel: str | None,
    backend: str | None,
    keep_going: bool,
    as_json: bool,
    plain: bool,
    no_stream: bool,
) -> int:
    """Run Python code in a kernel of your own interpreter.

    FILE is split into cells at lines that begin with `# %%`; what follows on such a line is the cell's title. `-` or
    nothing reads standard input. All cells run in one kernel, so each sees what the ones before it did, and the first
    that fails is the last that runs.

    Output is shown as it comes, whole. What there is to say about the run itself (that a cell failed, that the time ran
    out) goes to standard error.

    \b
      pisces run -c "import os; x = 41" -c "x + 1"
      pisces run analysis.py --timeout 300
      echo "print(6 * 7)" | pisces run

    With --session the kernel stays when the command has ended, and the next command of the same session, from whatever
    folder, finds what this one left. Ctrl+C interrupts the cell and keeps the session. `pisces session` lists such
    sessions, takes cells back, branches and closes them.

    \b
      pisces run --session s -c "x = 41"
      pisces run --session s -c "x + 1"

    With --kernel the code is in whatever language that Jupyter kernel runs; --session keeps its state too.

    \b
      pisces run --kernel bash -c "echo hello"
    """
    from pisces.cli.cells_to_run import CellsToRun, Show, from_here
    from pisces.cli.source import read_cells

    if background and session is None:
        raise click.UsageError("--background needs --session: without one, everything ends with the command.")

    cells = read_cells(file, codes)
    chosen = {"python.interpreter": interpreter and from_here(interpreter), "python.backend": backend}
    settings = {name: value for name, value in chosen.items() if value is not None}
    given: dict[str, object] = {"timeout": timeout, "reset": reset or None, "background": background or None}
    given["kernel"] = kernel and from_here(kernel)
    params: dict[str, object] = {"cells": [{"code": cell.code, "title": cell.title} for cell in cells]}
    params |= {name: value for name, value in given.items() if value is not None}
    if session is not None:
        params["session"] = session
        if cwd is not None:
            params["cwd"] = os.path.abspath(cwd)
    show: Show = "json" if as_json else "whole" if no_stream else "live"
    wanted = CellsToRun(
        cwd=cwd,
        settings=settings,
        params=params,
        count=len(cells),
        keep_going=keep_going,
        show=show,
        plain=plain,
    )
    if session is None:
        from pisces.cli.run_cells import run_cells

        return run_cells(wanted)
    from pisces.cli.run_session import run_in_session

    return run_in_session(wanted)
