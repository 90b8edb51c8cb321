"""Running the MCP server until its client leaves or a signal comes."""

import anyio

from pisces.cli.signals import StopSignals, in_running_loop
from pisces.cli.startup import stage
from pisces.mcp.options import ServerOptions, make_runtime
from pisces.mcp.stdio import serve_stdio


def serve(cwd: str | None, options: ServerOptions) -> int:
    """Serve over standard input and output; the exit code. Raises `InvalidCall` and `SettingsError`."""
    runtime = make_runtime(cwd)
    stage("settings")

    async def main() -> int:
        with anyio.CancelScope() as scope, StopSignals(in_running_loop(scope.cancel)) as signals:
            await serve_stdio(runtime, options)
        return signals.exit_code or 0

    return anyio.run(main)
