"""Items as lines of the screen, drawn once for each look and kept as long as there is room."""

import time
from typing import Final

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pisces.render.cells import cell_rows, notice_block
from pisces.render.kept import Kept
from pisces.render.look import Look
from pisces.render.view import CellView
from pisces.tui.desk.body import Bodies
from pisces.tui.desk.items import CellItem, Item, NoticeItem

GUTTER: Final = 2
"""Columns at the left, where the item that is selected is marked."""
_MOST_LINES: Final = 20_000
"""Lines that are kept: a few tens of megabytes."""
_GUESSED_LINES: Final = 12
_SHARE: Final = 10
"""Of the time, at most so small a part goes into drawing a cell that runs."""
_MARK: Final = Segment("▌ ", Style(bold=True))
_NO_MARK: Final = Segment(" " * GUTTER)


class Paint(msgspec.Struct, frozen=True):
    """How an item is drawn."""

    look: Look
    style: Style
    """That of what is behind it."""
    selected: bool = False

    def fits(self, other: "Paint") -> bool:
        """Whether both are the same but for the time."""
        look = msgspec.structs.replace(self.look, now=other.look.now)
        return (look, self.style, self.selected) == (other.look, other.style, other.selected)


class Drawn(msgspec.Struct, frozen=True):
    """The lines of an item."""

    item: Item
    version: tuple[object, ...]
    paint: Paint
    lines: list[Strip]
    good_until: float
    """What runs changes all the time: until then, lines that took long to make are not made again."""


class Drawing:
    """Draws items, and remembers those that were drawn last."""

    def __init__(self) -> None:
        self.bodies = Bodies()
        self._drawn: Kept[int, Drawn] = Kept(_MOST_LINES)
        self._behind: set[int] = set()

    def lines(self, item: Item, paint: Paint) -> list[Strip]:
        """The lines of an item as it is now, one empty one behind it; each as wide as the look and the gutter."""
        known = self._drawn.get(id(item))
        if known is not None and known.paint == paint and known.version == item.version and not self.is_behind(item):
            return known.lines
        began, version = time.monotonic(), item.version
        if known is not None and item.running and began < known.good_until and known.paint.fits(paint):
            return known.lines
        lines = self._draw(item, paint)
        took = time.monotonic() - began
        self._drawn.put(id(item), Drawn(item, version, paint, lines, began + took * _SHARE), len(lines))
        return lines

    def view(self, item: Item) -> CellView | None:
        """What is shown of a cell; None for what is none."""
        return None if isinstance(item, NoticeItem) else self.bodies.view(item)

    def is_behind(self, item: Item) -> bool:
        """Whether more of it has to be read than could be at once."""
        return id(item) in self._behind

    def _draw(self, item: Item, paint: Paint) -> list[Strip]:
        look, gutter = paint.look, _MARK if paint.selected else _NO_MARK
        if isinstance(item, NoticeItem):
            rows = notice_block(item.notice, look).rows
        else:
            rows = cell_rows(self.bodies.view(item), look)
            self._behind.add(id(item)) if self.bodies.behind else self._behind.discard(id(item))
        width = look.width + GUTTER
        strips = [Strip([gutter, *row]).adjust_cell_length(width).apply_style(paint.style) for row in rows]
        return [*strips, Strip.blank(width, paint.style)]


def guessed_height(item: Item) -> int:
    """About how many lines an item takes that was never drawn."""
    if isinstance(item, CellItem):
        return min(_GUESSED_LINES, item.began.code.count("\n") + 1) + 3
    return 3
