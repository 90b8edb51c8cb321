"""The list of tools that a client gets."""

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from pisces.mcp.results.structured import structured_schema
from pisces.tools.base import Tool
from pisces.tools.hints import hints, meta


def listed(tool: Tool, *, with_output: bool) -> McpTool:
    """A tool as the protocol describes it."""
    return McpTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        output_schema=structured_schema(tool.name) if with_output else None,
        annotations=ToolAnnotations.model_validate(hints(tool.name)),
        _meta=meta(tool.name) or None,
    )
