"""A result as the protocol has it: text and pictures for the model, data for programs, all within clients' limits."""

from typing import Any, Final

import anyio
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent
from msgspec import Struct
from msgspec.structs import replace

from pisces.mcp.results.bounded_data import fitted, storable
from pisces.mcp.results.keeping import Keeping
from pisces.mcp.results.limits import DATA_BYTES, NOTES_BYTES, beginning, wire_size
from pisces.mcp.results.structured import structured
from pisces.mcp.results.within_limits import Limited, needs_no_care
from pisces.model.results import Block, Details, ImageBlock, TextBlock, ToolResult
from pisces.output.artifacts import ArtifactStore
from pisces.output.notice import listed

_NAMED: Final = 5
"""How many parts of the data that were cut a sentence names."""


class Results:
    """Makes of what tools return what clients get."""

    def __init__(self, artifacts: ArtifactStore, read_with: str) -> None:
        """`read_with` is the way to an artifact that clients have, with `{id}` for its id."""
        self._keeping = Keeping(artifacts, read_with)

    async def protocol_result(self, result: ToolResult, tool: str, *, with_data: bool) -> CallToolResult:
        """The result as the client gets it. It is an error exactly when the tool says so.

        What is too much for clients is cut or made smaller; then it is in an artifact, and a text says so.
        """
        notes: list[str] = []
        content = [_storable(block) for block in result.content]
        if not needs_no_care(result):
            limited = Limited(replace(result, content=content), tool, self._keeping)
            content, notes = await limited.content(with_data=with_data)
        data = await self._data(replace(result, content=content), tool, notes) if with_data else None
        if notes:
            told = beginning(f"[{'. '.join(notes)}]", NOTES_BYTES)
            content.append(TextBlock(storable(told)))
            if data is not None:
                data["text"] = "\n\n".join(part for part in (data["text"], told) if part)
        return CallToolResult(
            content=[_content(block) for block in content], structured_content=data, is_error=result.is_error
        )

    async def _data(self, result: ToolResult, tool: str, notes: list[str]) -> dict[str, Any]:
        if isinstance(result.details, Details) or result.details is None:
            data = _bounded(result)
        else:  # The details of a notebook can be megabytes.
            data = await anyio.to_thread.run_sync(_bounded, result)
        if data.cut:
            notes.append(f"The structured content is not whole: {listed(data.cut, _NAMED)}")
            kept = await self._keeping.text("", tool, data.whole, "json")
            notes.append(f"{self._keeping.way_to(kept)}{'' if kept.trouble else ' for all of it'}")
        return data.sent


class _Data(Struct, frozen=True):
    """The structured content."""

    sent: dict[str, Any]
    cut: list[str]
    """What of it is not whole."""
    whole: str = ""
    """All of it as JSON, if it is not sent whole; without the text."""


def _bounded(result: ToolResult) -> _Data:
    cut: list[str] = []
    try:
        data = structured(result)
    except RecursionError:
        cut.append("`details` is nested too deeply to be sent")
        data = structured(replace(result, details=None))
    text = data.pop("text")
    small = storable(data, cut)
    if wire_size(small) > DATA_BYTES:
        small = fitted(small, DATA_BYTES, cut)
    return _Data({**small, "text": text}, cut, _readable(data) if cut else "")


def _readable(data: dict[str, Any]) -> str:
    """The data as JSON in lines, which can be read in parts."""
    import json

    try:
        return json.dumps(data, ensure_ascii=False, indent=1, default=str) + "\n"
    except RecursionError:
        return json.dumps(storable(data), ensure_ascii=False, indent=1, default=str) + "\n"


def _storable(block: Block) -> Block:
    return TextBlock(storable(block.text)) if isinstance(block, TextBlock) else block


def _content(block: Block) -> ContentBlock:
    if isinstance(block, ImageBlock):
        return ImageContent(data=block.data, mime_type=block.mime_type)
    return TextContent(text=block.text)
