"""The server over HTTP: for clients that are not started beside it, and for several at once."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import anyio

from pisces.mcp.http.endpoint import Listening
from pisces.mcp.loading import load
from pisces.mcp.options import ServerOptions, offered_tools
from pisces.runtime import Runtime


async def serve_http(
    runtime: Runtime, options: ServerOptions, listening: Listening, ready: Callable[[], object]
) -> None:
    """Serve whoever has the token, until it is cancelled. The runtime has not been entered yet.

    `ready` is called when clients can come. Raises `InvalidCall` when the settings leave no tool over.
    """
    async with AsyncExitStack() as ending:
        await ending.enter_async_context(runtime)
        offered_tools(runtime, options)  # Said before there is a group, which would wrap it.
        group = await ending.enter_async_context(anyio.create_task_group())
        # The SDK takes over a second to import. What the first call needs is started meanwhile, on the other core.
        group.start_soon(runtime.warm_up)
        await load("pisces.mcp.http.server")
        from pisces.mcp.http.server import serve

        await serve(runtime, options, listening, ready)
        group.cancel_scope.cancel()
