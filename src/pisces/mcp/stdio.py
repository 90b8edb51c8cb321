"""The server at the end of two pipes: how clients start it on their own machine."""

from contextlib import AsyncExitStack
from importlib import import_module

import anyio

from pisces.mcp.options import ServerOptions
from pisces.mcp.standard_streams import StandardStreams
from pisces.runtime import Runtime


async def serve_stdio(runtime: Runtime, options: ServerOptions) -> None:
    """Serve the client at standard input and output until it hangs up. The runtime has not been entered yet."""
    async with AsyncExitStack() as ending:
        streams = ending.enter_context(StandardStreams())
        await ending.enter_async_context(runtime)
        group = await ending.enter_async_context(anyio.create_task_group())
        # The SDK takes over a second to import. What the first call needs is started meanwhile, on the other core.
        group.start_soon(runtime.warm_up)
        await anyio.to_thread.run_sync(import_module, "pisces.mcp.server")
        from mcp.server.stdio import stdio_server

        from pisces.mcp.server import make_server

        server = make_server(runtime, options)
        await streams.open()
        async with stdio_server(streams.incoming, streams.outgoing) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()
