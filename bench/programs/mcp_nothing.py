"""An MCP server on the official SDK whose one tool does nothing: what the protocol alone costs."""

from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

_Context = ServerRequestContext[Any, Any]


async def _list_tools(_ctx: _Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="python", input_schema={"type": "object"})])


async def _call_tool(_ctx: _Context, _params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="2")])


async def _serve() -> None:
    server: Server[Any] = Server("nothing", on_list_tools=_list_tools, on_call_tool=_call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
