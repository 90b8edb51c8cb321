"""`pisces bash`: run a command of the shell as an agent's tool does, and show what it says while it says it."""

import click

_EXIT_CODES = """\b
Exit code:
  that of the command; besides
  2    `pisces bash` was used in a wrong way; nothing was run
  124  the time ran out
  130  interrupted with Ctrl+C (a second Ctrl+C ends at once)
"""


@click.command(epilog=_EXIT_CODES, short_help="Run a command of the shell, as the bash tool does.")
@click.argument("file", required=False)
@click.option("-c", "code", metavar="COMMAND", help="The command to run.")
@click.option("--cwd", metavar="DIR", help="The folder to run in, and whose settings and .venv count.")
@click.option("--timeout", metavar="SECONDS", type=float, help="30 unless given, at least 1, at most 3600.")
@click.option("--env", "variables", metavar="NAME=VALUE", multiple=True, help="A further variable; any number of them.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object, and nothing else.")
@click.option("--plain", is_flag=True, help="Text only, also at a terminal: no status, signs, colours or pictures.")
@click.option("--no-stream", is_flag=True, help="Print the result at the end, bounded, as an agent gets it.")
def bash(
    file: str | None,
    code: str | None,
    cwd: str | None,
    timeout: float | None,
    *,
    variables: tuple[str, ...],
    as_json: bool,
    plain: bool,
    no_stream: bool,
) -> int:
    """Run a command as the tool `bash` does: with the functions and aliases of ~/.bashrc, in the environment that
    kernels have, without a terminal or anything to read, and with an end.

    FILE is a script, run as one command; `-` or nothing reads it from standard input. What the command leaves in the
    background ends with `pisces bash`.

    Output is shown as it comes, whole, standard error in its place. What there is to say about the run itself goes to
    standard error.

    \b
      pisces bash -c "make test" --timeout 600
      pisces bash -c "env" --env MODE=fast
    """
    from pisces.cli.bash_source import read_command, read_variables
    from pisces.cli.cells_to_run import CellsToRun, Show
    from pisces.cli.run_cells import run_cells

    params: dict[str, object] = {"command": read_command(file, code)}
    if timeout is not None:
        params["timeout"] = timeout
    if variables:
        params["env"] = read_variables(variables)
    show: Show = "json" if as_json else "whole" if no_stream else "live"
    return run_cells(CellsToRun(cwd=cwd, settings={}, params=params, tool="bash", show=show, plain=plain))
