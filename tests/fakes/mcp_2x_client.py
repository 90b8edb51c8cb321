"""A program that talks to a server through the official SDK 2.x, as its documentation has it, and tells what it saw.

    python mcp_2x_client.py PLAN

PLAN is JSON, as `tests.fakes.mcp_plans.Plan` writes it; what was seen is JSON on standard output. It is run as a
program of its own, like those for the other SDKs, so that all of them go the same way.
"""

import json
import sys
import warnings
from contextlib import AsyncExitStack
from typing import Any

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning


async def main(plan: dict[str, Any]) -> dict[str, Any]:
    """Go through the plan; what was seen."""
    async with AsyncExitStack() as ending:
        client = await ending.enter_async_context(Client(await transport_to(plan["server"], ending), mode=plan["mode"]))
        seen: dict[str, Any] = {"protocol": client.protocol_version, "server": plain(client.server_info)["name"]}
        seen["tools"] = plain(await client.list_tools())["tools"]
        seen["pinged"] = await pinged(client)
        seen["calls"] = [await called(client, *call) for call in plan["calls"]]
        seen["progress"] = await cancelled(client, plan["until"], *plan["endless"])
        seen["after"] = [await called(client, *call) for call in plan["after"]]
        seen["templates"] = plain(await client.list_resource_templates())["resourceTemplates"]
        uri = plan["read"].format(id=seen["after"][-1]["structuredContent"]["artifact"])
        seen["read"] = plain(await client.read_resource(uri))["contents"]
    return seen


async def transport_to(server: dict[str, Any], ending: AsyncExitStack) -> Any:
    """A pipe to a server that is started, or HTTP to one that is there."""
    if "url" not in server:
        command, *arguments = server["command"]
        return stdio_client(StdioServerParameters(command=command, args=arguments, env=server["env"]))
    headers = {"Authorization": f"Bearer {server['token']}"}
    http = await ending.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
    return streamable_http_client(server["url"], http_client=http)


async def pinged(client: Client) -> bool:
    """Whether the server answered; the revision without a handshake has no ping."""
    if client.protocol_version >= "2026":
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await client.send_ping()  # type: ignore[deprecated]  # what the era with a handshake has
    return True


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a call, which the SDK checks against the tool's schema; an error of the protocol as such."""
    try:
        return dict(plain(await client.call_tool(tool, arguments)))
    except MCPError as error:
        return {"protocolError": error.error.message}


async def cancelled(client: Client, until: str, tool: str, arguments: dict[str, Any]) -> list[str]:
    """Make a call, and give it up when progress has been told twice, and that far; what was told."""
    told: list[str] = []
    with anyio.CancelScope() as scope:

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            told.append(message or "")
            if len(told) >= 2 and until in told[-1]:
                scope.cancel()

        await client.call_tool(tool, arguments, progress_callback=on_progress)
    return told


def plain(model: Any) -> Any:
    """As it was on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


if __name__ == "__main__":
    json.dump(anyio.run(main, json.loads(sys.argv[1])), sys.stdout)
