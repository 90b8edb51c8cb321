"""Rows that were made once, kept for whoever scrolls over them again: a long history stays cheap."""

from threading import Lock
from typing import Final

import msgspec

from pisces.render.blocks import Block, Heading, Image, Tree
from pisces.render.cells import cell_rows, notice_block
from pisces.render.kept import Kept
from pisces.render.look import Look
from pisces.render.rows import Row
from pisces.render.view import CellView, Notice

Lines = tuple[Row, ...]

MOST_KEPT: Final = 32 * 1024 * 1024
"""Bytes that kept rows may take up, by a rough count."""
_PIECE: Final = 160
"""Bytes of a piece of text with its style, without the text."""


class Drawings:
    """Keeps the rows of views by how they looked. Those that were not asked for the longest go first."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: Kept[tuple[int, Look], tuple[CellView | Notice, Lines]] = Kept(most)
        self._lock = Lock()

    @property
    def size(self) -> int:
        """Bytes that are kept, by a rough count."""
        return self._kept.size

    def lines_of(self, view: CellView | Notice, look: Look) -> Lines:
        """The rows of a view. The same view in the same look is made once: a view is known by its identity."""
        # Only a cell that runs looks different as time goes on.
        still = not isinstance(view, CellView) or view.status != "running"
        look = msgspec.structs.replace(look, now=0.0) if still and look.now else look
        key = (id(view), look)
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                return found[1]
        lines = cell_rows(view, look) if isinstance(view, CellView) else notice_block(view, look).rows
        if still:
            self._keep(key, view, lines)
        return lines

    def _keep(self, key: tuple[int, Look], view: CellView | Notice, lines: Lines) -> None:
        """The view is kept too: as long as it lives nothing else has its identity."""
        size = sum(_PIECE + len(piece.text) for row in lines for piece in row) + _size_of(view)
        if size > self._most // 4:
            return
        with self._lock:
            self._kept.put(key, (view, lines), size)


_DRAWINGS: Final = Drawings()


def lines_of(view: CellView | Notice, look: Look) -> Lines:
    """The rows of a view in a look, kept for the next time."""
    return _DRAWINGS.lines_of(view, look)


def _size_of(view: CellView | Notice) -> int:
    if isinstance(view, Notice):
        return len(view.text)
    return len(view.code) + sum(map(_block_size, view.blocks))


def _block_size(block: Block) -> int:
    match block:
        case Image():
            return len(block.data)
        case Tree():
            return 0  # It would have to be walked; its rows are counted.
        case Heading():
            return 0
        case _:
            return len(block.text)
