"""The list of tools that a client gets."""

from typing import Any, Final

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from pisces.mcp.results.structured import structured_schema
from pisces.tools.base import Tool
from pisces.tools.hints import hints

_AT_HAND: Final[dict[str, Any]] = {"anthropic/alwaysLoad": True}
"""Claude Code keeps tools back until its model searches for them. It is not to search for what it needs most."""


def listed(tool: Tool, *, with_output: bool) -> McpTool:
    """A tool as the protocol describes it."""
    return McpTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        output_schema=structured_schema(tool.name) if with_output else None,
        annotations=ToolAnnotations.model_validate(hints(tool.name)),
        _meta=_AT_HAND if tool.name == "python" else None,
    )
