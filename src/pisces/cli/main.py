"""The `pisces` command: finds the command that was asked for, and turns every ending into an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from pisces.cli.group import LazyGroup
from pisces.errors import InvalidCall, PiscesError, SettingsError

BAD_USE = 2
FAILED = 1
INTERRUPTED = 130
OUTPUT_CLOSED = 141

_OWN_OPTIONS = frozenset({"-h", "--help", "--version"})
_SWITCHES = frozenset({"PI_DEBUG", "PI_DEBUG_STARTUP", "PI_PYTHON_IPC_TRACE"})

_HELP = """A Python that remembers, for agents and the people beside them.

Pisces runs code in a kernel of your own interpreter and shows what it says: text, errors and rich output, bounded and
complete.

\b
  pisces                               the terminal UI, in the session of this folder
  pisces run -c "x = 41" -c "x + 1"    run two cells
  pisces run analysis.py               run a file, cell by cell
  pisces run --session s -c "x = 41"   run in a session that is there for the next command too
  pisces doctor                        see whether everything works

`pisces COMMAND --help` tells more about each command.
"""

cli = LazyGroup(
    name="pisces",
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    commands_at={
        "ui": ("pisces.cli.ui:ui", "The terminal UI: a history of cells, an editor, variables, notebooks."),
        "run": ("pisces.cli.run:run", "Run Python code, cell by cell."),
        "bash": ("pisces.cli.bash:bash", "Run a command of the shell, as the bash tool does."),
        "session": ("pisces.cli.session:session", "List, undo, branch and close sessions that outlive a command."),
        "notebook": ("pisces.cli.notebook:notebook", "Show, edit, run and compare Jupyter notebooks."),
        "mcp": ("pisces.cli.mcp:mcp", "Serve the tools to any MCP client, and set clients up for it."),
        "artifact": ("pisces.cli.artifact:artifact", "Show a whole output that a result showed in part."),
        "modules": ("pisces.cli.modules:modules", "List the modules that every kernel loads, and try them."),
        "settings": ("pisces.cli.settings:settings", "List the settings, and where each comes from."),
        "host": ("pisces.cli.host:host", "See and stop the background host, which keeps the sessions."),
        "gateway": (
            "pisces.cli.gateway:gateway",
            "See, start and stop the local gateways of Jupyter kernels.",
        ),
        "doctor": ("pisces.cli.doctor:doctor", "Check that everything works, and say how to mend what does not."),
        "setup": ("pisces.cli.setup:setup", "Set up what Pisces needs."),
    },
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing is raised."""
    _fill_standard_descriptors()
    try:
        _heed_switches()
        given = _with_command(list(sys.argv[1:] if arguments is None else arguments))
        if given and given[0] not in _OWN_OPTIONS:
            from pisces.settings.own_process import protect_process

            protect_process()
        code = cli.main(args=given, prog_name="pisces", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # No command of ours raises SystemExit: click does, when the reader of our output has gone.
        _discard_output()
        return OUTPUT_CLOSED
    except PiscesError as error:
        return _tell(error)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said about it
        from pisces.cli.mishap import tell_mishap

        return tell_mishap(error)
    return code if isinstance(code, int) else 0


def _with_command(arguments: list[str]) -> list[str]:
    """`pisces` alone, with options only, or with a notebook, is `pisces ui`; without a terminal, alone, it is help."""
    if not arguments:
        return ["ui"] if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() else []
    first = arguments[0]
    of_the_ui = first.startswith("-") and first not in _OWN_OPTIONS
    return ["ui", *arguments] if of_the_ui or first.endswith(".ipynb") else arguments


def _heed_switches() -> None:
    """Switch on what a `PI_` variable asks for. Without any, nothing is imported for it."""
    if not _SWITCHES.isdisjoint(os.environ):
        from pisces.cli.switched import switch_on

        switch_on(os.environ)


def _tell(error: PiscesError) -> int:
    from pisces.settings.switches import read_switches

    if read_switches(os.environ).debug:
        import traceback

        traceback.print_exception(error)
    else:
        click.echo(f"Error: {error.explain()}", err=True)
    return BAD_USE if isinstance(error, (InvalidCall, SettingsError)) else FAILED


def _discard_output() -> None:
    """Nobody reads our output any more: let what is still buffered go nowhere, without a word about it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _fill_standard_descriptors() -> None:
    """A caller may start us with 0, 1 or 2 closed; a file opened later must not get the number of one of them."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
