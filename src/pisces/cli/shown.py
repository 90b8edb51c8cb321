"""A finished result as text: whole, as JSON, or only what there is to say once its output has been shown."""

from pisces.cli.json_text import json_line
from pisces.model.results import Details, ImageOutput, TextBlock, ToolResult


def as_json(result: ToolResult) -> str:
    """One JSON object on one line."""
    return json_line(result.to_dict())


def as_text(result: ToolResult) -> str:
    """The result as an agent gets it; pictures, which are not text, are named."""
    blocks = [block.text for block in result.content if isinstance(block, TextBlock)]
    return "\n".join([*blocks, *_pictures(result)]) + "\n"


def has_more(result: ToolResult) -> bool:
    """Whether there is anything left to show when the text of the cells has been shown."""
    details = result.details
    if not isinstance(details, Details) or not details.cells:
        return True
    return bool(details.notices or details.images or details.json_outputs or details.status_events)


def remarks(result: ToolResult) -> list[str]:
    """What is left to say when the text of the cells has been shown: pictures, data, how it ended."""
    if not isinstance(result.details, Details) or not result.details.cells:
        return [result.text]  # Nothing was run, so nothing has been shown.
    displays = [block.text for block in result.content[1:] if isinstance(block, TextBlock)]
    return [*displays, *_pictures(result), *result.details.notices]


def _pictures(result: ToolResult) -> list[str]:
    images = result.details.images if isinstance(result.details, Details) else []
    return [_describe(image) for image in images]


def _describe(image: ImageOutput) -> str:
    size = f" {image.width}x{image.height}" if image.width and image.height else ""
    place = f": pisces artifact {image.artifact_id}" if image.artifact_id else ""
    return f"[{image.mime_type}{size}{place}]"
