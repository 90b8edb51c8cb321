"""Looking at the background host, and ending it."""

import os
import time

import click
import msgspec

from pisces.cli.main import FAILED
from pisces.errors import PiscesError
from pisces.host.start import find_host, kill_host


def show_status(*, as_json: bool) -> int:
    """Print what the host says of itself; the exit code is 1 when there is none."""
    client = find_host(os.environ)
    if client is None:
        click.echo('{"running":false}' if as_json else "The background host is not running.")
        return FAILED
    hello = client.hello
    client.close()
    if as_json:
        plain = {"running": True, **msgspec.to_builtins(hello)}
        plain.pop("type")
        click.echo(msgspec.json.encode(plain).decode("utf-8"))
        return 0
    age = max(0.0, time.time() - hello.started)
    other = "" if client.is_of_this_version else ", which is not the version of this command"
    click.echo(f"The background host runs: process {hello.pid}, for {age:.0f} s, version {hello.version}{other}.")
    for line in hello.sessions:
        click.echo(f"  {line.name}  {line.cwd}")
    if not hello.sessions:
        click.echo("It has no sessions.")
    return 0


def stop_host(*, force: bool) -> int:
    """End the host; with `force` also one that does not answer."""
    try:
        client = find_host(os.environ)
        if client is None:
            click.echo("The background host is not running.", err=True)
            return 0
        sessions = client.hello.sessions
        client.stop(with_sessions=True)
        client.close()
    except PiscesError:
        if not force or not kill_host(os.environ):
            raise
        click.echo("The background host did not answer and was killed.", err=True)
        return 0
    ended = ", ".join(line.name for line in sessions if not line.stays)
    stay = ", ".join(line.name for line in sessions if line.stays)
    click.echo("The background host has been stopped.", err=True)
    if ended:
        click.echo(f"Sessions that ended with it: {ended}.", err=True)
    if stay:
        click.echo(f"Sessions whose kernels stay on their gateway: {stay}.", err=True)
    return 0
