"""`pisces mcp install`, `uninstall` and `status`: Pisces in the configuration of MCP clients."""

from typing import Any

import click

_NAMES = ("claude-code", "claude-desktop", "codex", "cursor", "vscode", "gemini", "windsurf", "zed")
_CLIENT = click.Choice(_NAMES)

_project = click.option("--project", is_flag=True, help="In the project's own configuration, not in yours.")
_yes = click.option("--yes", "-y", is_flag=True, help="Write without asking.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show the change only.")


@click.command(short_help="Put Pisces into the configuration of an MCP client, and try it.")
@click.argument("client", metavar="CLIENT", type=_CLIENT)
@_project
@click.option("--tools", metavar="NAMES", multiple=True, help="Which tools, as for `pisces mcp`: +bash adds one.")
@click.option(
    "--cwd", metavar="DIR", help="With --project: the project's folder, if not this one. Else: where the server works."
)
@_yes
@_dry_run
@click.option("--no-test", is_flag=True, help="Do not start the server afterwards to try it.")
def install(client: str, **options: Any) -> int:
    """Put Pisces into the configuration of CLIENT: claude-code, claude-desktop, codex, cursor, vscode, gemini, windsurf
    or zed.

    The change is shown first, and made when you agree. All else in the file stays as it is, to the byte, and a copy of
    the file is kept beside it. Then the server is started as the client would start it, and runs a cell.

    \b
      pisces mcp install claude-code
      pisces mcp install cursor --project
      pisces mcp install codex --tools +bash --yes
    """
    from pisces.cli.mcp_installing import install_into

    return install_into(client, **options)


@click.command(short_help="Take Pisces out of the configuration of an MCP client.")
@click.argument("client", metavar="CLIENT", type=_CLIENT)
@_project
@click.option("--cwd", metavar="DIR", help="With --project: the project's folder, if not this one.")
@_yes
@_dry_run
def uninstall(client: str, **options: Any) -> int:
    """Take Pisces out of the configuration of CLIENT. Nothing else in the file is changed.

    \b
      pisces mcp uninstall claude-code
      pisces mcp uninstall cursor --project --dry-run
    """
    from pisces.cli.mcp_installing import uninstall_from

    return uninstall_from(client, **options)


@click.command(short_help="Show which MCP clients have Pisces.")
@click.argument("client", metavar="[CLIENT]", type=_CLIENT, required=False)
@click.option("--cwd", metavar="DIR", help="The project's folder, if not this one.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(client: str | None, *, cwd: str | None, as_json: bool) -> int:
    """Show for each MCP client, or for CLIENT, whether it has Pisces: in your configuration and in the project's.

    \b
      pisces mcp status
      pisces mcp status codex --json
    """
    from pisces.cli.mcp_status import show_status

    return show_status(client, cwd, as_json=as_json)
