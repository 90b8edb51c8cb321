"""The list of tools that a client gets."""

from collections.abc import Mapping
from typing import Final

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from pisces.mcp.structured import structured_schema
from pisces.tools.base import Tool

_CHANGES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False)
_ANNOTATIONS: Final[Mapping[str, ToolAnnotations]] = {
    "read": ToolAnnotations(read_only_hint=True, open_world_hint=False),
    "write": ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False),
    "edit": ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False),
    "session": ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
    ),
}
"""What each does at worst: a cell can do anything, and so can a notebook."""


def listed(tool: Tool, *, with_output: bool) -> McpTool:
    """A tool as the protocol describes it."""
    return McpTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        output_schema=structured_schema() if with_output else None,
        annotations=_ANNOTATIONS.get(tool.name, _CHANGES),
    )
