"""Which MCP clients have Pisces, as a list for people or as JSON."""

import shlex

import click

from pisces.cli.json_text import json_line
from pisces.cli.mcp_installing import project_folder
from pisces.mcp.clients.catalog import CLIENTS, Surroundings
from pisces.mcp.clients.installation import Installation, Status, launch_if_any, status_of


def show_status(name: str | None, cwd: str | None, *, as_json: bool) -> int:
    """Print it; the exit code is that of success, whatever the state is. Raises `InvalidCall`."""
    folder, surroundings, launch = project_folder(cwd), Surroundings.here(), launch_if_any()
    clients = CLIENTS.values() if name is None else [CLIENTS[name]]
    found = [
        status_of(Installation.of(client, scope, surroundings, folder), launch)
        for client in clients
        for scope in client.scopes
    ]
    if as_json:
        click.echo(json_line(found), nl=False)
    else:
        _print(found)
    return 0


def _print(found: list[Status]) -> None:
    width = max(len(each.client) for each in found)
    for each in found:
        click.echo(f"{each.client:<{width}}  {each.scope:<7}  {each.state:<15}  {each.path}")
        if each.command is not None:
            click.echo(f"{'':<{width}}  {shlex.join(each.command)}")
        for line in each.note.splitlines():
            click.echo(f"{'':<{width}}  {line}")
