"""The output of a cell as text alone, for the clipboard."""

from pisces.render.blocks import Formatted, Image, Remark, Tree, Words
from pisces.render.terminal_text import without_control
from pisces.render.view import CellView


def output_text(view: CellView) -> str:
    """All that it said; pictures by their names."""
    parts: list[str] = []
    for block in view.blocks:
        match block:
            case Words() | Formatted() | Tree() | Remark():
                parts.append(without_control(block.text))
            case Image():
                parts.append(block.name)
            case _:
                pass
    return "\n".join(part.rstrip("\n") for part in parts if part)
