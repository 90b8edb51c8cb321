"""What a terminal shows of a result at its end: all that the stream of text could not carry, or the whole of it.

It loads a library that takes a while: import it only where there is something to show.
"""

import io
import os
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace
from rich.console import Console, RenderableType
from rich.segment import Segment

from pisces.cli.cell_names import name_of
from pisces.cli.live_screen import Signs
from pisces.model.results import ToolResult
from pisces.render.blocks import Block, Image, Remark, Tree
from pisces.render.cells import MOST_EVENTS_EXPANDED, MOST_LINES, cell_block, notice_block
from pisces.render.from_result import views_of
from pisces.render.look import Look
from pisces.render.notebook_call import notebook_block
from pisces.render.outputs import parts_of
from pisces.render.palette import BOLD
from pisces.render.rows import Row, Rows, cropped, finished
from pisces.render.screen import Screen
from pisces.render.status_lines import status_lines
from pisces.render.styled import StyledPainter
from pisces.render.view import CellView, Notice

_BESIDES: Final = (Image, Remark)
"""Output of a cell that is no text, and has not been streamed."""


class FinalBlock:
    """Makes text for one terminal, as wide as it is now."""

    def __init__(self, descriptor: int, encoding: str) -> None:
        can = Screen.of(descriptor, os.environ)
        ascii_only = Signs.of(encoding, coloured=can.coloured).is_ascii
        if ascii_only and can.pictures == "blocks":
            can = replace(can, pictures="none")
        self._can = can
        self._look = Look(width=can.width, expanded=True, coloured=can.coloured, ascii=ascii_only)

    @property
    def width(self) -> int:
        """The columns of the terminal."""
        return self._can.width

    def after_stream(self, result: ToolResult) -> str:
        """Pictures, data, what helpers did, and what there is to say; all text of the cells has been shown."""
        view = views_of(result)
        shown = [cell for cell in view.cells if _has_more(cell)]
        # A result does not tell which cell displayed which data.
        trees = [block for cell in view.cells for block in cell.blocks if isinstance(block, Tree)]
        parts = [
            *(part for cell in shown for part in self._beside(cell, headed=len(view.cells) > 1)),
            *(self._laid_out(rows) for rows in self._trees(trees)),
            *(self._said(notice) for notice in view.notices if notice.kind != "cut"),
        ]
        return "".join(parts)

    def whole(self, result: ToolResult) -> str:
        """Each cell with its code and as much of its output as the result has, then what there is to say."""
        view = views_of(result)
        parts = [self.printed(cell_block(_without_pictures(cell), self._look)) for cell in view.cells]
        pictures = [block for cell in view.cells for block in cell.blocks if isinstance(block, Image)]
        return "".join([*parts, self._painted(pictures), *map(self._said, view.notices)])

    def notebook(self, result: ToolResult, language: str) -> str:
        """What was done to a cell of a notebook, with its source."""
        return self.printed(notebook_block(result, replace(self._look, expanded=False), language=language))

    def _said(self, notice: Notice) -> str:
        return self.printed(notice_block(notice, self._look))

    def _beside(self, cell: CellView, *, headed: bool) -> Iterator[str]:
        if headed:
            heading = f"{cell.place} {name_of(cell.title, cell.code)}"
            yield self._laid_out([(Segment(cropped(heading, self._look.width), BOLD),)])
        earlier, lines = status_lines(cell.status_events, MOST_EVENTS_EXPANDED)
        told = [f"… {earlier} earlier"] * bool(earlier) + lines
        yield from (self._said(Notice("info", line)) for line in told)
        yield self._painted(block for block in cell.blocks if isinstance(block, _BESIDES))

    def _laid_out(self, rows: Iterable[Row]) -> str:
        return self.printed(Rows(finished(rows, self._look, self._look.width)))

    def _trees(self, trees: list[Tree]) -> Iterator[list[Row]]:
        for part in parts_of(trees, self._look, self._look.width):
            yield [row for rows in part.first(part.count) for row in rows]

    def _painted(self, blocks: Iterable[Block]) -> str:
        made: list[str] = []
        # Collapsed, which pictures of half blocks are when they fit a window of 24 rows.
        StyledPainter(made.append, self._can, most_lines=MOST_LINES["tool"]).paint(blocks)
        return "".join(made)

    def printed(self, shown: RenderableType) -> str:
        """Anything that rich can print, as text with sequences."""
        console = Console(
            file=io.StringIO(),
            width=self._can.width,
            force_terminal=True,
            no_color=not self._can.coloured,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        with console.capture() as made:
            console.print(shown)
        return made.get()


def _has_more(cell: CellView) -> bool:
    return bool(cell.status_events) or any(isinstance(block, _BESIDES) for block in cell.blocks)


def _without_pictures(cell: CellView) -> CellView:
    return replace(cell, blocks=tuple(block for block in cell.blocks if not isinstance(block, Image)))
