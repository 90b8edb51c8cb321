"""A cell as text alone: its output for the clipboard, its code for the editor."""

from pisces.render.blocks import Formatted, Image, Remark, Tree, Words
from pisces.render.terminal_text import without_control
from pisces.render.view import CellView
from pisces.tui.desk.typed import split_prefix


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


def typed_text(view: CellView) -> str:
    """The code as it has to be typed to be run again in the same way: with a sign where it would be mistaken."""
    if view.language == "bash":
        return f"! {view.code}"
    return f"$ {view.code}" if split_prefix(view.code)[1] else view.code
