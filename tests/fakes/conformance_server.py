"""Our server over HTTP, with what the protocol's conformance suite expects of a server besides: for its tests alone.

    python -m tests.fakes.conformance_server

It listens on any port of this machine and prints the address. Each tool of the suite is a cell that the real `python`
tool runs, and each of its resources is an artifact, so that what is judged has gone through all of ours. The suite
cannot send a token: the server's own is put into each request, before names and origin are judged.
"""

import re
import secrets
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final, Self
from unittest.mock import patch

from mcp.server.lowlevel import Server
from mcp_types import ReadResourceRequestParams, ReadResourceResult

from pisces.cli.mcp_serving import run_until_stopped
from pisces.mcp.http import server as http_server
from pisces.mcp.http.endpoint import Endpoint
from pisces.mcp.http.requests import Receive, Requests, Scope, Send
from pisces.mcp.http.token import Token
from pisces.mcp.options import ServerOptions
from pisces.mcp.server import make_server
from pisces.model.results import ToolResult
from pisces.output.artifacts import ArtifactStore
from pisces.runtime import Runtime
from pisces.tools.base import CallContext, Tool
from pisces.tools.registry import DEFAULT_TOOLS
from tests.fakes.mcp_plans import PICTURE

_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PICTURE: Final = f"type('Picture', (), {{'_repr_png_': lambda self: {PICTURE!r}}})()"
CELLS: Final[Mapping[str, str]] = {
    "test_simple_text": "print('This is a simple text response for testing.')",
    "test_image_content": _PICTURE,
    "test_error_handling": "raise Exception('This tool intentionally returns an error for testing')",
    "test_tool_with_progress": "import time\nfor n in range(4):\n    print(n, flush=True)\n    time.sleep(0.6)",
    "test_logging_tool": "print('nothing is logged to the client')",
    "test_x_mcp_header": "print('the header says what the body does')",
    "json_schema_2020_12_tool": "pass",
}
_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
    "json_schema_2020_12_tool": {
        "$schema": _DIALECT,
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}


class CellTool:
    """A tool of the suite."""

    def __init__(self, name: str, python: Tool) -> None:
        self.name = name
        self.description = f"Of the conformance suite: {name}"
        self.schema: Mapping[str, Any] = _SCHEMAS.get(name, _NO_PARAMETERS)
        self._python = python

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Run the cell."""
        return await self._python.call({"cells": [{"code": CELLS[self.name]}]}, context)


class ConformanceRuntime(Runtime):
    """One that has the tools of the suite too."""

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._tools |= {name: CellTool(name, self._tools["python"]) for name in CELLS}
        return self


class LettingIn(Requests):
    """Gives a request the token that it lacks."""

    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        header = (b"authorization", f"Bearer {self.token}".encode())
        await super().__call__({**scope, "headers": [*scope["headers"], header]}, receive, send)


def with_resources(runtime: Runtime, options: ServerOptions) -> Server[Any]:
    """The server, which has the resources of the suite too."""
    server = make_server(runtime, options)
    ours = server.get_request_handler("resources/read")
    assert ours is not None

    async def read(ctx: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        number = artifact_of(params.uri, runtime.artifacts)
        wanted = params if number is None else params.model_copy(update={"uri": f"artifact://{number}"})
        found = await ours.handler(ctx, wanted)
        assert isinstance(found, ReadResourceResult)
        contents = [content.model_copy(update={"uri": params.uri}) for content in found.contents]
        return found.model_copy(update={"contents": contents})

    server.add_request_handler("resources/read", ReadResourceRequestParams, read)
    return server


def artifact_of(uri: str, artifacts: ArtifactStore) -> str | None:
    """A new artifact with what the suite expects to find there; None if it expects nothing."""
    if uri == "test://static-text":
        return artifacts.add_bytes("suite", "python", b"This is the content of a text.", extension="log")
    if uri == "test://static-binary":
        return artifacts.add_bytes("suite", "python", PICTURE, extension="png")
    if named := re.fullmatch(r"test://template/(\w+)/data", uri):
        return artifacts.add_bytes("suite", "python", f"Data of {named[1]}.".encode(), extension="log")
    return None


def main() -> None:
    """Serve until it is ended."""
    token = Token(secrets.token_urlsafe(), "this process")
    LettingIn.token = token.value
    patched = patch.multiple(http_server, Requests=LettingIn, make_server=with_resources)
    options = ServerOptions(tools=(*DEFAULT_TOOLS, *CELLS))
    with patched, closing(Endpoint(token=token, port=0).listen()) as listening:

        async def serve() -> None:
            async with ConformanceRuntime() as runtime:
                await http_server.serve(runtime, options, listening, lambda: print(listening.url, flush=True))

        run_until_stopped(serve)


if __name__ == "__main__":
    main()
