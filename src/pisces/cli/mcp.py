"""`pisces mcp`: serve the tools to an MCP client, and put Pisces into the configuration of clients."""

import os
from typing import TYPE_CHECKING, Any, cast

import click

from pisces.cli.mcp_install import install, status, uninstall

if TYPE_CHECKING:
    from pisces.mcp.options import ServerOptions, Structured


@click.group(invoke_without_command=True, short_help="Serve the tools to any MCP client.")
@click.option(
    "--tools",
    metavar="NAMES",
    multiple=True,
    help="Which tools: python,notebook,session unless given; +bash adds one to these, all is every one.",
)
@click.option("--cwd", metavar="DIR", help="The folder to work in, and whose settings and .venv count.")
@click.option(
    "--structured",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Whether results come as data too; auto: unless the client hides text and pictures then.",
)
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP, to any number of clients.")
@click.option("--host", metavar="ADDRESS", help="With --http: where to listen; 127.0.0.1 unless given.")
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535), help="With --http: 8787 unless given; 0 is any.")
@click.option("--token-file", metavar="FILE", help="With --http: has the token that requests need.")
@click.option(
    "--allow-host", metavar="NAME", multiple=True, help="With --http: what else clients may call this server."
)
@click.pass_context
def mcp(
    ctx: click.Context, /, *, tools: tuple[str, ...], cwd: str | None, structured: str, over_http: bool, **http: Any
) -> int | None:
    """Serve over standard input and output, as MCP clients start it, or with --http over HTTP.

    Every request over HTTP needs a token: that of --token-file, else that of the variable PISCES_MCP_TOKEN, else one
    that is made and shown. Whoever has it can run code here.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_options(ctx, ctx.invoked_subcommand)
        return None
    from pisces.mcp.options import ServerOptions, chosen_tools
    from pisces.mcp.sdk import require_sdk

    require_sdk()
    options = ServerOptions(tools=chosen_tools(tools), structured=cast("Structured", structured))
    if over_http:
        return _serve_over_http(cwd, options, **http)
    if given := [name for name, value in http.items() if value not in {None, ()}]:
        raise click.UsageError(f"--{given[0].replace('_', '-')} is for --http.")
    from pisces.cli.mcp_serving import serve

    return serve(cwd, options)


def _refuse_options(ctx: click.Context, command: str) -> None:
    """The options before a command are those of the server; raises `UsageError` rather than lose them."""
    for option in ctx.command.params:
        if ctx.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} before `{command}` has no effect: put options after it.")


def _serve_over_http(
    cwd: str | None,
    options: "ServerOptions",
    *,
    host: str | None,
    port: int | None,
    token_file: str | None,
    allow_host: tuple[str, ...],
) -> int:
    from pisces.cli.mcp_http_serving import serve_over_http
    from pisces.mcp.http.endpoint import DEFAULT_HOST, DEFAULT_PORT, Endpoint
    from pisces.mcp.http.token import find_token

    endpoint = Endpoint(
        host=host or DEFAULT_HOST,
        port=DEFAULT_PORT if port is None else port,
        token=find_token(token_file, os.environ),
        further_names=allow_host,
    )
    return serve_over_http(cwd, options, endpoint)


for _command in (install, uninstall, status):
    mcp.add_command(_command)
