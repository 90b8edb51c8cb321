"""Cells as text alone, for files, pipes, and terminals that know nothing else."""

from collections.abc import Iterable, Iterator
from typing import Final

from pisces.render.blocks import Block, Code, Formatted, Heading, Image, Markdown, Remark, Tree, Words
from pisces.render.screen import Screen
from pisces.render.terminal_text import cut, without_control

INDENT: Final = "    "
"""What outputs are indented by."""
_WIDTH: Final = Screen().width - len(INDENT)


class PlainPainter:
    """Paints blocks as lines. Sources are as they are in the notebook, so that they can be searched and copied."""

    def __init__(self, *, most_lines: int | None) -> None:
        """Of outputs with more lines, so many are shown; None for all."""
        self._most = most_lines

    def paint(self, blocks: Iterable[Block]) -> Iterator[str]:
        """The text of each block, with the newline that ends it."""
        for block in blocks:
            match block:
                case Heading():
                    yield f"── {heading(block)} ──\n"
                case Code() | Markdown():
                    yield f"{block.text}\n" if block.text else ""
                case Words():
                    yield self._output(without_control(block.text), at_end=block.kind == "error")
                case Formatted():
                    yield self._output(block.text if block.fits(_WIDTH) else block.unformatted)
                case Tree():
                    yield self._output(block.text)
                case Image():
                    yield f"{INDENT}{block.name}\n"
                case Remark():
                    yield f"{INDENT}{block.text}\n"

    def _output(self, text: str, *, at_end: bool = False) -> str:
        lines = cut(text, self._most, at_end=at_end)
        note = [lines.note] if lines.note else []
        shown = [*note, *lines.shown] if at_end else [*lines.shown, *note]
        return "".join(f"{INDENT}{line}".rstrip() + "\n" for line in shown)


def heading(block: Heading) -> str:
    """The heading of a cell in words."""
    return " · ".join((f"cell {block.index}", *block.facts))
