"""A program that talks to a server through the official SDK 1.x, and tells what it saw: see `mcp_2x_client`.

It is run by the interpreter of an environment that has that SDK, not the one that the types here are checked with.
"""

import json
import sys
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any

import anyio

sdk: Any = import_module("mcp")
types: Any = import_module("mcp.types")


async def main(plan: dict[str, Any]) -> dict[str, Any]:
    """Go through the plan; what was seen."""
    async with AsyncExitStack() as ending:
        streams = await streams_to(plan["server"], ending)
        client = await ending.enter_async_context(sdk.ClientSession(*streams))
        begun = await client.initialize()
        seen: dict[str, Any] = {"protocol": begun.protocolVersion, "server": begun.serverInfo.name}
        seen["tools"] = plain(await client.list_tools())["tools"]
        seen["pinged"] = plain(await client.send_ping()) == {}
        seen["calls"] = [await called(client, *call) for call in plan["calls"]]
        seen["progress"] = await cancelled(client, plan["until"], *plan["endless"])
        seen["after"] = [await called(client, *call) for call in plan["after"]]
        seen["templates"] = plain(await client.list_resource_templates())["resourceTemplates"]
        uri = plan["read"].format(id=seen["after"][-1]["structuredContent"]["artifact"])
        seen["read"] = plain(await client.read_resource(uri))["contents"]
    return seen


async def streams_to(server: dict[str, Any], ending: AsyncExitStack) -> tuple[Any, Any]:
    """A pipe to a server that is started, or HTTP to one that is there."""
    if "url" not in server:
        command, *arguments = server["command"]
        parameters = sdk.StdioServerParameters(command=command, args=arguments, env=server["env"])
        read, write = await ending.enter_async_context(sdk.stdio_client(parameters))
        return read, write
    http = import_module("httpx").AsyncClient(headers={"Authorization": f"Bearer {server['token']}"}, timeout=60)
    await ending.enter_async_context(http)
    transport = import_module("mcp.client.streamable_http").streamable_http_client(server["url"], http_client=http)
    read, write, _ = await ending.enter_async_context(transport)
    return read, write


async def called(client: Any, tool: str, arguments: dict[str, Any]) -> Any:
    """The result of a call, which the SDK checks against the tool's schema; an error of the protocol as such."""
    try:
        return plain(await client.call_tool(tool, arguments))
    except sdk.McpError as error:
        return {"protocolError": error.error.message}


async def cancelled(client: Any, until: str, tool: str, arguments: dict[str, Any]) -> list[str]:
    """Make a call, and give it up when progress has been told twice, and that far; what was told.

    This SDK has nothing that says so to the server: whoever gives up a call sends the notification themselves.
    """
    told: list[str] = []
    number = client._request_id
    with anyio.CancelScope() as scope:

        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            told.append(message or "")
            if len(told) >= 2 and until in told[-1]:
                scope.cancel()

        await client.call_tool(tool, arguments, progress_callback=progress)
    gone = types.CancelledNotification(params=types.CancelledNotificationParams(requestId=number))
    await client.send_notification(types.ClientNotification(gone))
    return told


def plain(model: Any) -> Any:
    """As it was on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


if __name__ == "__main__":
    json.dump(anyio.run(main, json.loads(sys.argv[1])), sys.stdout)
