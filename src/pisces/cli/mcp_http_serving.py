"""Running the MCP server over HTTP, and telling how clients get there."""

import os
import sys
from contextlib import closing

from pisces.cli.mcp_serving import run_until_stopped
from pisces.cli.startup import stage
from pisces.environment.secret_names import drop_own_tokens
from pisces.mcp.http.endpoint import Endpoint, Listening
from pisces.mcp.http.serving import serve_http
from pisces.mcp.options import ServerOptions, make_runtime


def serve_over_http(cwd: str | None, options: ServerOptions, endpoint: Endpoint) -> int:
    """Serve until a signal comes; the exit code. Raises `InvalidCall` and `SettingsError`."""
    runtime = make_runtime(cwd)
    drop_own_tokens(os.environ)
    stage("settings")
    with closing(endpoint.listen()) as listening:
        return run_until_stopped(lambda: serve_http(runtime, options, listening, lambda: _announce(listening)))


def _announce(listening: Listening) -> None:
    """Tell whoever started it how clients get here: the only place where a token is ever shown, one that we made."""
    token = listening.token
    secret = f", with the token of {token.source}" if token.source else f" {token.value}"
    lines = [
        f"Pisces serves MCP at {listening.url}",
        f"Every request needs the header Authorization: Bearer{secret}",
    ]
    if not listening.is_local:
        names = "the names" if listening.is_everywhere else "the address of --host, and by the names"
        lines += [
            "Warning: other machines reach this, and nothing is encrypted. Whoever has the token can run code here.",
            f"They may call it by {names} that --allow-host gives it.",
        ]
    print("\n".join(lines), file=sys.stderr, flush=True)
