"""Putting Pisces into a client's configuration and taking it out: show the change, ask, write, try."""

import sys
from pathlib import Path
from typing import Any

import anyio
import click

from pisces.cli.signals import StopSignals, in_running_loop
from pisces.errors import InvalidCall, PiscesError
from pisces.mcp.clients.catalog import CLIENTS, Scope, Surroundings
from pisces.mcp.clients.configuration import Change
from pisces.mcp.clients.installation import Installation
from pisces.mcp.clients.launch import launch_command, variables_of
from pisces.mcp.clients.trial import Trial, try_out
from pisces.mcp.options import chosen_tools
from pisces.mcp.sdk import require_sdk

_FAILED = 1


def install_into(
    client: str,
    *,
    project: bool,
    tools: tuple[str, ...],
    cwd: str | None,
    yes: bool,
    dry_run: bool,
    no_test: bool,
) -> int:
    """Install and try; the exit code. Raises `InvalidCall`, `FileError`, and `PiscesError` if it does not work."""
    require_sdk()
    chosen_tools(tools)
    surroundings = Surroundings.here()
    found = _installation(client, surroundings, project=project, cwd=cwd)
    # With --project the folder says where the configuration is, and the client starts the server there.
    works_in = None if project or cwd is None else str(found.project)
    entry = found.entry(launch_command(), tools=tools, cwd=works_in, home=surroundings.home)
    change = found.install(entry)
    if change.is_none:
        click.echo(f"{found.client.title}: already there, in {found.path}")
    elif not _make(change, found, yes=yes, dry_run=dry_run):
        return 0 if dry_run else _FAILED
    if no_test or dry_run:
        return 0
    trial = _try_out(found, found.present())
    if isinstance(trial, int):
        return trial
    click.echo(_outcome(trial))
    if not change.is_none:
        click.echo(found.client.then)
    return 0


def uninstall_from(client: str, *, project: bool, cwd: str | None, yes: bool, dry_run: bool) -> int:
    """Uninstall; the exit code. Raises `InvalidCall` and `FileError`."""
    found = _installation(client, Surroundings.here(), project=project, cwd=cwd)
    change = found.uninstall()
    if change.is_none:
        click.echo(f"{found.client.title}: not there, in {found.path}")
        return 0
    return 0 if _make(change, found, yes=yes, dry_run=dry_run) or dry_run else _FAILED


def project_folder(cwd: str | None) -> Path:
    """The folder that was asked for, else the one at hand. Raises `InvalidCall` if it is none."""
    if cwd is None:
        return Path.cwd()
    folder = Path(cwd).expanduser().absolute()
    if not folder.is_dir():
        raise InvalidCall(f"There is no folder {folder}.")
    return folder


def _installation(client: str, surroundings: Surroundings, *, project: bool, cwd: str | None) -> Installation:
    scope: Scope = "project" if project else "user"
    return Installation.of(CLIENTS[client], scope, surroundings, project_folder(cwd))


def _make(change: Change, found: Installation, *, yes: bool, dry_run: bool) -> bool:
    """Show the change, and make it if that is wanted; whether it was made."""
    click.echo(f"{found.client.title}: {change.path}")
    click.echo(_showable(change.diff()), nl=False)
    if dry_run:
        click.echo("Nothing was written.")
        return False
    if not yes and not _agreed():
        return False
    backup = change.apply(private=found.scope == "user")
    click.echo(f"Written.{'' if backup is None else f' As it was, it is in {backup}'}")
    return True


def _showable(text: str) -> str:
    """The text with what this terminal cannot show replaced: that is no reason to stop."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _agreed() -> bool:
    if not sys.stdin.isatty():
        click.echo("Nothing was written: there is nobody to ask. Run it again with --yes to write it.", err=True)
        return False
    try:
        if click.confirm("Write this?", default=True):
            return True
    except click.Abort:
        click.echo("\nNothing was written.", err=True)
        raise
    click.echo("Nothing was written.", err=True)
    return False


def _try_out(found: Installation, entry: Any) -> Trial | int:
    """Start the server that the file now names; the exit code if a signal ended that."""
    command = found.command(entry)
    if command is None:
        raise PiscesError(f"The entry in {found.path} starts no program.")
    click.echo("Trying it: the server is started as the client would …", err=True)

    async def main() -> Trial | int:
        with anyio.CancelScope() as scope, StopSignals(in_running_loop(scope.cancel)) as signals:
            return await try_out(command, env=variables_of(entry), cwd=found.project)
        assert signals.exit_code is not None
        return signals.exit_code

    return anyio.run(main)


def _outcome(trial: Trial) -> str:
    if trial.python is None:
        return f"works: {', '.join(trial.tools)}, listed in {trial.seconds:.1f} s"
    return f"works: python {trial.python}, first result in {trial.seconds:.1f} s"
