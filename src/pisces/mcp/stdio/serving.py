"""The server at the end of two pipes: how clients start it on their own machine."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

import anyio

from pisces.mcp.loading import load
from pisces.mcp.options import ServerOptions, offered_tools
from pisces.mcp.stdio.standard_streams import StandardStreams
from pisces.runtime import Runtime

_LAST_WORDS: Final = 1.0
"""Seconds that a client which has hung up has to take what was answered before."""


async def serve_stdio(runtime: Runtime, options: ServerOptions) -> None:
    """Serve the client at standard input and output until it hangs up. The runtime has not been entered yet."""
    async with AsyncExitStack() as ending:
        streams = ending.enter_context(StandardStreams())
        await ending.enter_async_context(runtime)
        offered_tools(runtime, options)  # Said before there is a group, which would wrap it.
        group = await ending.enter_async_context(anyio.create_task_group())
        # The SDK takes over a second to import. What the first call needs is started meanwhile, on the other core.
        group.start_soon(runtime.warm_up)
        await load("pisces.mcp.server")
        from pisces.mcp.server import make_server
        from pisces.mcp.stdio.messages import messages

        server = make_server(runtime, options)
        await streams.open()
        with anyio.CancelScope() as serving:
            group.start_soon(_leave_with_client, streams, serving)
            async with messages(_until_end(streams), streams.outgoing) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _until_end(streams: StandardStreams) -> AsyncIterator[str]:
    """The client's lines; after the last one nobody waits for answers."""
    async for line in streams.incoming:
        yield line
    streams.deaf.set()


async def _leave_with_client(streams: StandardStreams, serving: anyio.CancelScope) -> None:
    """End when the client has gone, whichever of the two ends it let go of, although it never reads what is left."""
    await streams.deaf.wait()
    await anyio.sleep(_LAST_WORDS)
    serving.cancel()
