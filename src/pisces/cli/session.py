"""`pisces session`: the sessions that outlive a command. Each command but `past` is an action of the `session` tool."""

import os
from typing import Final

import click

from pisces.cli.session_jobs import cancel, jobs, output, wait

_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object.")
_PLAIN: Final = click.option("--plain", is_flag=True, help="Text only, also at a terminal.")


@click.group(short_help="List, undo, branch and close sessions that outlive a command.")
def session() -> None:
    """The sessions that `pisces run --session NAME` makes.

    They live in a background host, which is started on demand, and stay until they are closed or have been idle for
    python.namedIdleTimeout seconds. Every session is found by its name, from whatever folder.

    \b
      pisces run --session s -c "x = 41"
      pisces session variables s
      pisces session undo s
      pisces session branch s t
      pisces session close s t
    """


session.add_command(jobs)
session.add_command(wait)
session.add_command(cancel)
session.add_command(output)


@session.command("list", short_help="List the sessions.")
@_PLAIN
@_JSON
def list_sessions(*, plain: bool, as_json: bool) -> int:
    """List the sessions: what each is doing, how many cells it has run, its checkpoints and its jobs.

    No host is started for it: where none runs, there are no sessions.
    """
    from pisces.cli.session_call import list_all

    return list_all(as_json=as_json, plain=plain)


@session.command(short_help="List the sessions of the past too.")
@click.option("--all", "every", is_flag=True, help="All of them, not only the newest 50.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def past(*, every: bool, as_json: bool) -> int:
    """List the sessions that have a journal, the newest first: when each began and ended, its cells and its folder.

    `pisces session export NAME` makes a notebook of one. No host is needed for either.
    """
    from pisces.cli.session_past import list_past

    return list_past(every=every, as_json=as_json)


@session.command(short_help="Keep the state of now under a name.")
@click.argument("name", metavar="SESSION")
@click.argument("checkpoint_name", metavar="NAME")
@click.option("--drop", is_flag=True, help="Give up the checkpoint of that name.")
@_JSON
def checkpoint(name: str, checkpoint_name: str, *, drop: bool, as_json: bool) -> int:
    """Keep the state of SESSION as it is now, to go back to with `pisces session restore`.

    \b
      pisces session checkpoint s before-training
      pisces session checkpoint s before-training --drop
    """
    from pisces.cli.session_call import manage

    params = {"session": name, "name": checkpoint_name, **({"drop": True} if drop else {})}
    return manage("checkpoint", params, as_json=as_json)


@session.command(short_help="Go back to a checkpoint.")
@click.argument("name", metavar="SESSION")
@click.argument("checkpoint_name", metavar="NAME")
@_JSON
def restore(name: str, checkpoint_name: str, *, as_json: bool) -> int:
    """Go back to the checkpoint NAME of SESSION. Files, network and child processes are not taken back."""
    from pisces.cli.session_call import manage

    return manage("restore", {"session": name, "name": checkpoint_name}, as_json=as_json)


@session.command(short_help="Take back the last cell.")
@click.argument("name", metavar="SESSION")
@click.option("--steps", metavar="N", type=click.IntRange(min=1), help="How many cells; 1 unless given.")
@_JSON
def undo(name: str, steps: int | None, *, as_json: bool) -> int:
    """Take back the last cell of SESSION. Files, network and child processes are not taken back."""
    from pisces.cli.session_call import manage

    return manage("undo", {"session": name, **({} if steps is None else {"steps": steps})}, as_json=as_json)


@session.command(short_help="Make a second session with the same state.")
@click.argument("name", metavar="SESSION")
@click.argument("new_name", metavar="[NEW]", required=False)
@_JSON
def branch(name: str, new_name: str | None, *, as_json: bool) -> int:
    """Make the session NEW with the state of SESSION. From then on neither sees what the other does."""
    from pisces.cli.session_call import manage

    return manage("branch", {"session": name, **({} if new_name is None else {"to": new_name})}, as_json=as_json)


@session.command(short_help="Show what is in the namespace.")
@click.argument("name", metavar="SESSION")
@_PLAIN
@_JSON
def variables(name: str, *, plain: bool, as_json: bool) -> int:
    """Show the variables of SESSION. While a cell runs, they are those of before it."""
    from pisces.cli.session_call import manage

    return manage("variables", {"session": name}, as_json=as_json, plain=plain)


@session.command(short_help="Interrupt the running cell.")
@click.argument("name", metavar="SESSION")
@_JSON
def interrupt(name: str, *, as_json: bool) -> int:
    """Interrupt the call that runs in SESSION, as Ctrl+C in its own terminal would. The session stays."""
    from pisces.cli.session_call import manage

    return manage("interrupt", {"session": name}, as_json=as_json)


@session.command(short_help="Write a session as a notebook.")
@click.argument("name", metavar="SESSION")
@click.argument("path", metavar="[FILE]", required=False)
@_JSON
def export(name: str, path: str | None, *, as_json: bool) -> int:
    """Write what happened in SESSION as a Jupyter notebook, outputs and pictures included.

    FILE is SESSION.ipynb in the folder at hand unless given. Of a session that is gone, the newest journal is taken.
    """
    from pisces.cli.session_past import export_session

    return export_session(name, os.path.abspath(path or f"{name}.ipynb"), as_json=as_json)


@session.command(short_help="End sessions.")
@click.argument("names", metavar="SESSION...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every session.")
@_JSON
def close(names: tuple[str, ...], *, every: bool, as_json: bool) -> int:
    """End sessions, and with them all they know. A running cell gets 3 seconds, then it is interrupted."""
    from pisces.cli.session_call import close_all, manage

    if every == bool(names):
        raise click.UsageError("Which ones? Give their names, or --all.")
    if every:
        return close_all(as_json=as_json)
    return max(manage("close", {"session": name}, as_json=as_json) for name in names)
