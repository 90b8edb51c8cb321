"""From the result of a tool to that of the protocol: blocks for the model, data for programs."""

from typing import Any

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent

from pisces.mcp.structured import structured
from pisces.model.results import Block, ImageBlock, ToolResult


def protocol_result(result: ToolResult, *, with_data: bool) -> CallToolResult:
    """The result as the client gets it. It is an error exactly when the tool says so."""
    data = structured(result) if with_data else None
    return CallToolResult(
        content=[_content(block) for block in result.content],
        structured_content=_storable(data),
        is_error=result.is_error,
    )


def _content(block: Block) -> ContentBlock:
    if isinstance(block, ImageBlock):
        return ImageContent(data=block.data, mime_type=block.mime_type)
    return TextContent(text=_storable(block.text))


def _storable(value: Any) -> Any:
    """Without halves of characters (lone surrogates), which no JSON text in UTF-8 can have."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_storable(name): _storable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_storable(each) for each in value]
    return value
