"""`pisces gateway`: the local gateways, on which the kernels of the backend `gateway` run."""

import click

_ID = click.argument("gateway_id", metavar="[ID]", required=False)


@click.group(short_help="See, start and stop the local gateways of Jupyter kernels.")
def gateway() -> None:
    """The processes on which kernels run when python.backend is gateway: one for each interpreter, for all that use it.

    They are started on demand, and each ends by itself when it has had no kernel for python.idleTimeout seconds. ID is
    what `pisces gateway status` shows, or its beginning; without one, the gateway of the interpreter in this folder
    is meant.
    """


@gateway.command(short_help="List them, each with its address, process and kernels.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(*, as_json: bool) -> int:
    """List the local gateways: address, process, interpreter, kernels, and since when.

    The exit code is 0 when one runs and 1 when none does.
    """
    import anyio

    from pisces.cli.gateway_control import show_status

    return anyio.run(lambda: show_status(as_json=as_json))


@gateway.command(short_help="Start the gateway of the interpreter in this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print what runs then as JSON.")
def start(*, as_json: bool) -> int:
    """Start the gateway of the interpreter that code in this folder runs with, unless it runs already."""
    import anyio

    from pisces.cli.gateway_control import start_gateway

    return anyio.run(lambda: start_gateway(as_json=as_json))


@gateway.command(short_help="End one, or all of them, with their kernels.")
@_ID
@click.option("--all", "every", is_flag=True, help="End all of them.")
def stop(gateway_id: str | None, *, every: bool) -> int:
    """End a gateway and all its kernels, with everything they know.

    \b
      pisces gateway stop          that of the interpreter in this folder
      pisces gateway stop 3f2a     the one that `pisces gateway status` shows by this id
      pisces gateway stop --all
    """
    import anyio

    from pisces.cli.gateway_control import stop_gateways

    if every and gateway_id is not None:
        raise click.UsageError("--all takes no ID.")
    return anyio.run(lambda: stop_gateways(gateway_id, every=every))


@gateway.command(short_help="Show what one has logged.")
@_ID
@click.option("-n", "--lines", type=click.IntRange(min=0), default=50, show_default=True, help="So many lines at most.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is added, until Ctrl+C.")
def logs(gateway_id: str | None, lines: int, *, follow: bool) -> int:
    """Print the end of a gateway's log, which has what its kernels write to their standard error, too."""
    import anyio

    from pisces.cli.gateway_control import log_of
    from pisces.cli.gateway_logs import show_log

    return show_log(anyio.run(lambda: log_of(gateway_id)), lines=lines, follow=follow)
