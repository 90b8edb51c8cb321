"""`pisces host`: the process that keeps sessions between commands."""

import click


@click.group(short_help="See and stop the background host.")
def host() -> None:
    """The process that keeps the sessions of `pisces run --session`: one for each user, started on demand.

    It ends by itself when it has had no session for python.idleTimeout seconds.
    """


@host.command(short_help="Say whether it runs, and which sessions it has.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(*, as_json: bool) -> int:
    """Say whether the background host runs, its version, and which sessions it has, each with its folder.

    The exit code is 0 when it runs and 1 when it does not.
    """
    from pisces.cli.host_control import show_status

    return show_status(as_json=as_json)


@host.command(short_help="End it, and all its sessions.")
@click.option("--force", is_flag=True, help="Kill it when it does not answer.")
def stop(*, force: bool) -> int:
    """End the background host and all its sessions, with everything they know.

    Running cells get 3 seconds, then they are interrupted. The next command that needs a host starts another one.
    """
    from pisces.cli.host_control import stop_host

    return stop_host(force=force)
