"""The official client, at the other end of the servers that are measured."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from bench.mcp.servers import McpServer

_SECONDS = 60.0


class Connection:
    """A client whose server has answered it."""

    def __init__(self, client: Any, tool: str) -> None:
        self._client = client
        self._tool = tool
        self.lost = 0
        """Answers that had no value in them."""

    async def evaluate(self) -> float:
        """Seconds until `1+1` was answered. Raises `RuntimeError` when the answer is an error, or another value."""
        began = time.perf_counter()
        result = await self._client.call_tool(self._tool, {"code": "1+1"})
        taken = time.perf_counter() - began
        text = result.content[0].text if result.content else ""
        self.lost += not text
        if result.is_error or text.partition("\n")[0].strip() not in ("2", ""):
            raise RuntimeError(f"{self._tool} gave {text!r} for 1+1")
        return taken


@asynccontextmanager
async def connected(server: McpServer, environ: dict[str, str]) -> AsyncIterator[Connection]:
    """Start a server and shake hands with it. Raises `RuntimeError`, with what it said last, if it ends instead."""
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program, *arguments = server.command
    started = StdioServerParameters(command=program, args=arguments, env=environ, cwd=server.folder)
    log = server.folder / "server.log"
    with log.open("w", encoding="utf-8") as said:
        try:
            async with Client(stdio_client(started, said)) as client:
                yield Connection(client, server.tool)
        except* MCPError as errors:
            raise RuntimeError(last_words(log) or "it ended without a word") from errors
        except* RuntimeError as errors:  # A wrong answer, which the client's task groups have wrapped.
            raise RuntimeError(str(first_in(errors))) from errors


def first_in(errors: BaseException) -> BaseException:
    """The first of them that is no group."""
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors


def last_words(log: Path) -> str:
    """The last line that a server wrote."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def first_result(server: McpServer) -> tuple[float, int]:
    """Seconds from the launch of all that is needed to the answer to `1+1`, and whether it was lost.

    Raises `RuntimeError`.
    """

    async def run() -> tuple[float, int]:
        began = time.perf_counter()
        with anyio.fail_after(_SECONDS), server.with_what_it_needs() as environ:
            async with connected(server, environ) as connection:
                await connection.evaluate()
                taken = time.perf_counter() - began
        return taken, connection.lost

    return anyio.run(run)
