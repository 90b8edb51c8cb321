"""Running the MCP server until its client leaves or a signal comes."""

from collections.abc import Awaitable, Callable

import anyio

from pisces.cli.signals import StopSignals, in_running_loop
from pisces.cli.startup import stage
from pisces.mcp.options import ServerOptions, make_runtime
from pisces.mcp.stdio.serving import serve_stdio


def serve(cwd: str | None, options: ServerOptions) -> int:
    """Serve over standard input and output; the exit code. Raises `InvalidCall` and `SettingsError`."""
    runtime = make_runtime(cwd)
    stage("settings")
    return run_until_stopped(lambda: serve_stdio(runtime, options))


def run_until_stopped(serving: Callable[[], Awaitable[None]]) -> int:
    """Serve until that ends, or a signal ends it; the exit code."""

    async def main() -> int:
        with anyio.CancelScope() as scope, StopSignals(in_running_loop(scope.cancel)) as signals:
            await serving()
        return signals.exit_code or 0

    return anyio.run(main)
