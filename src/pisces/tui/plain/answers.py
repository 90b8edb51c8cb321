"""How a call ended, in words."""

from pisces.model.cells import CellRecord
from pisces.model.results import Details, ImageOutput, TextBlock, ToolResult
from pisces.render.from_result import details_of

_LONG_ENOUGH = 1000.0
"""Milliseconds from which on it is said how long a cell took."""
_WORDS = {
    "timeout": "ran out of time",
    "interrupted": "was interrupted",
    "crashed": "crashed",
    "aborted": "was not run",
    "disconnected": "was lost sight of",
}


def left_to_say(result: ToolResult) -> list[str]:
    """What has not been said while it ran: data and pictures that were displayed; all of it, if nothing ran."""
    details = details_of(result.details)
    if details is None or not any(cell.status != "pending" for cell in details.cells):
        return [result.text]
    displays = [block.text for block in result.content[1:] if isinstance(block, TextBlock)]
    return [*displays, *map(_picture, details.images)]


def outcome(details: Details, called: str = "") -> str:
    """One sentence about the last cell that began; nothing where that is said already. `called` is its name."""
    began = [cell for cell in details.cells if cell.status != "pending"]
    if not began or details.job is not None:
        return ""
    last = began[-1]
    verb = "is done" if details.outcome == "ok" else _WORDS.get(details.outcome, "failed")
    return f"{called or _name(last)} {verb}{_after(last)}."


def _name(cell: CellRecord) -> str:
    if cell.label:  # Cells of a notebook are called by their place in it, as its commands do.
        return cell.label[:1].upper() + cell.label[1:]
    return f"Cell {cell.execution_count}" if cell.execution_count is not None else "The cell"


def _after(cell: CellRecord) -> str:
    took = cell.duration_ms or 0.0
    return f" after {took / 1000:.1f} seconds" if took >= _LONG_ENOUGH else ""


def _picture(image: ImageOutput) -> str:
    size = f" of {image.width} by {image.height} pixels" if image.width and image.height else ""
    where = f"; pisces artifact {image.artifact_id}" if image.artifact_id else ""
    return f"A picture{size}, {image.mime_type}{where}."
