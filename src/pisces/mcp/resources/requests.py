"""The requests about resources: what answers each, and the protocol's errors for what is not there."""

from typing import Any, Final

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from pisces.errors import PiscesError
from pisces.mcp.peer import peer_of
from pisces.mcp.results.bounded_data import storable
from pisces.runtime import Runtime

_NOT_FOUND_BEFORE: Final = -32002
"""By this clients of the handshake era know that a resource is not there; the era after it has no code of its own."""
_MOST: Final = 2000
"""Characters of what an error says: it may repeat what it was asked for, however long that is."""

_Context = ServerRequestContext[Any, Any]


class ResourceRequests:
    """Answers for one runtime. What reads resources is loaded with the first request: most clients make none."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def list_resources(self, ctx: _Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """Sessions that are open, and artifacts, the newest first."""
        from pisces.mcp.resources.listing import listed_resources

        names = {session.key.id for session in self._runtime.pool.sessions if not session.closed}
        cursor = None if params is None else params.cursor
        try:
            return await to_thread.run_sync(listed_resources, names, self._runtime.artifacts, cursor)
        except PiscesError as error:
            raise MCPError(INVALID_PARAMS, _words(error)) from None

    async def list_templates(self, ctx: _Context, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """What addresses there can be."""
        from pisces.mcp.resources.listing import listed_templates

        return listed_templates()

    async def read(self, ctx: _Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """What an address names, or a page of it."""
        from pisces.mcp.resources.reading import Resources
        from pisces.mcp.resources.uris import NoSuchResource

        try:
            contents = await Resources(self._runtime).read(params.uri, peer_of(ctx).owner)
        except NoSuchResource as error:
            before = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
            code = _NOT_FOUND_BEFORE if before else INVALID_PARAMS
            raise MCPError(code, _words(error), {"uri": params.uri[:_MOST]}) from None
        except PiscesError as error:
            raise MCPError(INVALID_PARAMS, _words(error)) from None
        except OSError as error:
            raise MCPError(INTERNAL_ERROR, f"It cannot be read: {error.strerror or error}") from None
        return ReadResourceResult(contents=[contents])


def _words(error: PiscesError) -> str:
    words = error.explain()
    text: str = storable(words if len(words) <= _MOST else f"{words[:_MOST]}[…]")
    return text
