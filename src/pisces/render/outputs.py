"""Blocks of output as parts, of which as many rows are shown as there is room for."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.segment import Segment
from rich.style import Style

from pisces.output.images import BrokenImage
from pisces.render.blocks import Block, Code, Formatted, Heading, Image, Markdown, Remark, Tree, Words
from pisces.render.code import code_lines
from pisces.render.collapsing import Part
from pisces.render.half_blocks import ROWS_COLLAPSED, ROWS_EXPANDED, half_blocks
from pisces.render.jsontree import COLLAPSED, EXPANDED, Leaf, leaves
from pisces.render.look import Look
from pisces.render.palette import BOLD, DIM
from pisces.render.rich_part import MOST_LAID_OUT, PicturePart, RowsPart, markdown_rows, remark_rows
from pisces.render.rows import Row, fold
from pisces.render.text_part import TextPart

MOST_PICTURES: Final = 3
"""Pictures of one cell that are drawn unless all of it is wanted: the newest."""
_KINDS: Final = {
    "str": Style(color="green"),
    "number": Style(color="cyan"),
    "word": Style(color="magenta"),
    "group": DIM,
    "more": DIM,
}


def parts_of(blocks: Iterable[Block], look: Look, width: int) -> list[Part]:
    """The outputs of a cell, in order."""
    blocks = [block for block in blocks if not (isinstance(block, Words) and not block.text)]
    pictures = [block for block in blocks if isinstance(block, Image)]
    drawn = pictures if look.expanded else pictures[-MOST_PICTURES:]
    shown = {id(picture) for picture in drawn} if look.pictures and look.coloured and not look.ascii else set()
    return [_part(block, look, width, id(block) in shown) for block in blocks]


def _part(block: Block, look: Look, width: int, drawn: bool) -> Part:
    match block:
        case Words():
            return TextPart(block, look, width)
        case Formatted() if len(block.text) > MOST_LAID_OUT or not block.fits(width):
            return TextPart(Words(block.unformatted), look, width)
        case Image() if drawn:
            return _picture(block, look, width)
        case _:
            return RowsPart(list(_rows(block, look, width)))


def _rows(block: Block, look: Look, width: int) -> Iterable[Row]:
    match block:
        case Formatted() | Markdown():
            return markdown_rows(block.text, look, width)
        case Tree():
            return _tree(block, look, width)
        case Code():
            lines = code_lines(block.text, block.language, dark=look.dark, coloured=look.coloured)
            return (row for line in lines for row in fold(line, width))
        case Image():
            return remark_rows(block.name, width)
        case Heading():
            return remark_rows(" · ".join((f"cell {block.index}", *block.facts)), width)
        case Remark() | Words():
            return remark_rows(block.text, width)


def _picture(image: Image, look: Look, width: int) -> Part:
    try:
        rows = half_blocks(image, width, ROWS_EXPANDED if look.expanded else ROWS_COLLAPSED, dark=look.dark)
    except BrokenImage as error:
        return RowsPart(remark_rows(f"{image.name[:-1]} cannot be shown: {error}]", width))
    return PicturePart(rows)


def _tree(block: Tree, look: Look, width: int) -> Iterator[Row]:
    for leaf in leaves(block.value, EXPANDED if look.expanded else COLLAPSED):
        yield from _leaf_rows(leaf, width)


def _leaf_rows(leaf: Leaf, width: int) -> Iterator[Row]:
    """A line of a tree; the rest of one that is too long begins below its key."""
    inside = max(2, width - len(leaf.guide))
    key = [Segment(f"{leaf.key}: ", BOLD)] if leaf.key else []
    lead = leaf.guide
    for row in fold([*key, Segment(leaf.value, _KINDS[leaf.kind])], inside):
        yield (Segment(lead, DIM), *row)
        lead = lead.replace("├─ ", "│  ").replace("└─ ", "   ")
