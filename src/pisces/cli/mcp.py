"""`pisces mcp`: serve the tools to an MCP client, and put Pisces into the configuration of clients."""

import click


@click.group(invoke_without_command=True, short_help="Serve the tools to any MCP client.")
@click.option("--tools", metavar="NAMES", multiple=True, help="Which tools: python,notebook,session unless given.")
@click.option("--cwd", metavar="DIR", help="The folder to work in, and whose settings and .venv count.")
@click.option(
    "--structured",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Whether results come as data too; auto: unless the client hides text and pictures then.",
)
@click.pass_context
def mcp(ctx: click.Context, tools: tuple[str, ...], cwd: str | None, structured: str) -> int | None:
    """Serve over standard input and output, as MCP clients start it."""
    if ctx.invoked_subcommand is not None:
        return None
    from pisces.cli.mcp_serving import serve
    from pisces.mcp.options import ServerOptions, chosen_tools

    options = ServerOptions(tools=chosen_tools(tools), structured=structured)  # type: ignore[arg-type]
    return serve(cwd, options)
