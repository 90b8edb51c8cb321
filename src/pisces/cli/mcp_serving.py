"""Running the MCP server until its client leaves or a signal comes."""

import os
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import click

from pisces.cli.signals import StopSignals, in_running_loop
from pisces.cli.startup import stage
from pisces.environment.secret_names import drop_own_tokens
from pisces.mcp.options import ServerOptions, make_runtime
from pisces.mcp.stdio.serving import serve_stdio

_TO_A_PERSON: Final = (
    "This is for MCP clients, which start it themselves and talk to it over standard input and output.\n"
    "`pisces mcp install CLIENT` sets one up, `pisces mcp --http` serves over HTTP, Ctrl+C ends this."
)


def serve(cwd: str | None, options: ServerOptions) -> int:
    """Serve over standard input and output; the exit code. Raises `InvalidCall` and `SettingsError`."""
    runtime = make_runtime(cwd)
    drop_own_tokens(os.environ)
    stage("settings")
    if os.isatty(0):
        click.echo(_TO_A_PERSON, err=True)
    return run_until_stopped(lambda: serve_stdio(runtime, options))


def run_until_stopped(serving: Callable[[], Awaitable[None]]) -> int:
    """Serve until that ends, or a signal ends it; the exit code."""

    async def main() -> int:
        with anyio.CancelScope() as scope, StopSignals(in_running_loop(scope.cancel)) as signals:
            await serving()
        return signals.exit_code or 0

    return anyio.run(main)
