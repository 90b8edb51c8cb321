"""The server as the SDK knows it: which requests there are, and what answers each.

Above are the transports, `stdio` and `http`. Below are `calls`, `listing` and `resources`. This module loads the SDK.
"""

from collections.abc import Container
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from pisces._version import __version__
from pisces.errors import InvalidCall
from pisces.mcp.calls import Calls
from pisces.mcp.http.requests import HUNG_UP
from pisces.mcp.listing import listed
from pisces.mcp.options import ServerOptions, offered_tools
from pisces.mcp.peer import Peer, peer_of, program_of
from pisces.mcp.resources.requests import ResourceRequests
from pisces.mcp.results.protocol import Results
from pisces.mcp.results.structured import wants_structured
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import error_result
from pisces.tools.registry import no_such_tool

_INSTRUCTIONS: Final = (
    "A Python that remembers: variables, imports and functions stay from call to call of `python`, also after an "
    "error, a timeout or a cancelled call, and each result says what became of them. Work step by step in short cells "
    "instead of writing scripts to files."
)
_WITH_SESSION: Final = " Long output is cut, kept, and read again with the `session` tool."

_Context = ServerRequestContext[Any, Any]


def make_server(runtime: Runtime, options: ServerOptions) -> Server[Any]:
    """The server for a runtime that has been entered. Raises `InvalidCall` when the settings leave no tool over."""
    return _Handlers(runtime, options).server


class _Handlers:
    def __init__(self, runtime: Runtime, options: ServerOptions) -> None:
        self._options = options
        self._settings = runtime.settings
        self._tools = offered_tools(runtime, options)
        self._calls = Calls(runtime, self._tools)
        self._results = Results(runtime.artifacts, self._calls.read_with)
        resources = ResourceRequests(runtime)
        self.server: Server[Any] = Server(
            "pisces",
            version=__version__,
            title="Pisces",
            instructions=_instructions(self._tools),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=resources.list_resources,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read,
        )

    def _with_data(self, ctx: _Context) -> bool:
        wanted = self._options.structured
        return wants_structured(program_of(ctx)) if wanted == "auto" else wanted == "always"

    async def _list_tools(self, ctx: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        with_output = self._with_data(ctx)
        return ListToolsResult(tools=[listed(tool, with_output=with_output) for tool in self._tools.values()])

    async def _call_tool(self, ctx: _Context, params: CallToolRequestParams) -> CallToolResult:
        try:
            result = await self._answer(ctx, params, peer_of(ctx))
        except InvalidCall as error:
            result = error_result(error.explain())
        return await self._results.protocol_result(result, params.name, with_data=self._with_data(ctx))

    async def _answer(self, ctx: _Context, params: CallToolRequestParams, peer: Peer) -> ToolResult:
        if params.name not in self._tools:
            raise no_such_tool(params.name, self._tools, self._settings)
        hung_up = None if ctx.request is None else ctx.request.scope.get(HUNG_UP)
        wants_progress = ctx.meta is not None and "progress_token" in ctx.meta
        report = ctx.session.report_progress if wants_progress else None
        return await self._calls.call(params.name, params.arguments or {}, peer, report, hung_up)


def _instructions(tools: Container[str]) -> str | None:
    """What a client tells its model of the server, as far as it is true of these tools."""
    if "python" not in tools:
        return None
    return _INSTRUCTIONS + _WITH_SESSION if "session" in tools else _INSTRUCTIONS
