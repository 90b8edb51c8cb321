"""The official MCP client, at a server of ours that is a process of its own."""

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation, TextContent

from tests.fakes.drive import PATIENCE

LEGACY = "legacy"
"""The mode of a client that begins with a handshake."""
MODERN = "2026-07-28"
"""The mode of a client that begins with none."""


def mcp_command(*arguments: str) -> list[str]:
    """What a client starts: `pisces mcp` with these arguments."""
    return [sys.executable, "-m", "pisces", "mcp", *arguments]


def mcp_environment(interpreter: str, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a server whose kernels are of this interpreter: that of the test, with these variables."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    return {**os.environ, "PYTHONPATH": source, "PI_SET__python__interpreter": interpreter, **(variables or {})}


@asynccontextmanager
async def stdio_client_of(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    cwd: Path | None = None,
    mode: str = "auto",
    program: str = "pisces-tests",
    **options: Any,
) -> AsyncIterator[Client]:
    """A client of its own server, which is started with this command and has ended afterwards.

    What the server says on standard error is shown when the test fails. `program` is what the client calls itself.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(env), cwd=cwd)
        client = Client(
            stdio_client(server, errlog=said),
            mode=mode,
            client_info=Implementation(name=program, version="1"),
            cache=None,
            **options,
        )
        try:
            async with client:
                yield client
        except BaseException:
            said.seek(0)
            print(said.read()[-20_000:], file=sys.stderr)
            raise


@asynccontextmanager
async def pisces_mcp(
    interpreter: str, *arguments: str, variables: Mapping[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of `pisces mcp` with these arguments, whose kernels are of this interpreter."""
    async with stdio_client_of(mcp_command(*arguments), mcp_environment(interpreter, variables), **options) as client:
        yield client


async def call(client: Client, tool: str, /, **params: Any) -> CallToolResult:
    """Call a tool within the patience of a test."""
    with anyio.fail_after(PATIENCE):
        return await client.call_tool(tool, params)


async def python(client: Client, code: str, /, **params: Any) -> CallToolResult:
    """Run one cell."""
    return await call(client, "python", code=code, **params)


def text_of(result: CallToolResult) -> str:
    """All text of a result."""
    return "\n\n".join(block.text for block in result.content if isinstance(block, TextContent))
