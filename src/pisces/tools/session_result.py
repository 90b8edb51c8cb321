"""What the `session` tool answers with: a text, and details."""

from datetime import UTC, datetime

from pisces.model.results import TextBlock, ToolResult
from pisces.model.sessions import SessionDetails


def told(text: str, details: SessionDetails) -> ToolResult:
    """An answer that is no error."""
    return ToolResult(content=[TextBlock(text)], details=details)


def counted(cells: int) -> str:
    """A number of cells for a sentence."""
    return f"{cells} cell" if cells == 1 else f"{cells} cells"


def moment(seconds: float) -> str:
    """A time since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
