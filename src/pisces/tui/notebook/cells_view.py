"""The cells of a notebook on the screen: only those in sight are made, however many there are."""

import time
from collections.abc import Mapping
from contextlib import suppress

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.events import Key, MouseScrollDown, MouseScrollUp, Paste, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerError

from pisces.render.look import Look
from pisces.render.rows import Row
from pisces.tui.line_input import did_at_once
from pisces.tui.notebook.book import BookCell
from pisces.tui.notebook.cell_editor import CellEditor
from pisces.tui.notebook.looks import CellLooks, Running

_CHOSEN = Segment("▌", Style(bold=True, color="bright_blue"))
_OTHER = Segment(" ")


class CellsView(Widget, can_focus=True):
    """A window on a list of cells. One is chosen; an editor may stand in place of its source."""

    DEFAULT_CSS = """
    CellsView { height: 1fr; layers: cells over; }
    CellsView > CellEditor { layer: over; position: absolute; display: none; }
    """

    changing: Worker[None] | None = None
    """What was begun last of all that may choose another cell: keys wait for its end."""

    class Scrolled(Message):
        """Something else is in sight."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[BookCell] = []
        self.chosen = 0
        self.language = "python"
        self.expanded = False
        self.running: Mapping[int, Running] = {}
        """By the key of a cell, how it stands in the run that is under way."""
        self._top = (0, 0)
        self._looks = CellLooks()
        self._drawn: list[tuple[int, Row]] | None = None

    def compose(self) -> ComposeResult:
        yield CellEditor()

    @property
    def editor(self) -> CellEditor:
        """Where a source is edited; it is seen only then."""
        return self.query_one(CellEditor)

    @property
    def cell(self) -> BookCell | None:
        """The cell that is chosen."""
        return self.cells[self.chosen] if 0 <= self.chosen < len(self.cells) else None

    def show(self, cells: list[BookCell]) -> None:
        """Show these; the one that was chosen stays so, as long as it is there."""
        chosen, top = self.cell, self.cells[self._top[0]] if self._top[0] < len(self.cells) else None
        self.cells = list(cells)
        if chosen in self.cells:
            self.chosen = self.cells.index(chosen)
        self.chosen = max(0, min(self.chosen, len(cells) - 1))
        self._top = (self.cells.index(top), self._top[1]) if top in self.cells else (0, 0)
        self.redraw(follow=top not in self.cells)

    def choose(self, index: int) -> None:
        """Choose another cell, and have it in sight."""
        self.chosen = max(0, min(index, len(self.cells) - 1))
        self.redraw()

    def redraw(self, *, follow: bool = True) -> None:
        """What there is to see has changed."""
        self._drawn = None
        if follow:
            self._have_chosen_in_sight()
        self._place_editor()
        self.refresh()
        self.post_message(self.Scrolled())

    def scroll_lines(self, lines: int) -> None:
        """Go down by so many lines, or up; what is chosen stays in sight."""
        index, line = self._top
        line += lines
        while line < 0 and index > 0:
            index -= 1
            line += self._height(index)
        while index < len(self.cells) - 1 and line >= self._height(index):
            line -= self._height(index)
            index += 1
        last = max(0, self._height(index) - 1) if self.cells else 0
        self._top = (index, max(0, min(line, last)))
        self._drawn = None
        in_sight = {each for each, _ in self._rows()}
        if self.chosen not in in_sight and in_sight and not self.editor.display:
            self.chosen = min(in_sight) if self.chosen < min(in_sight) else max(in_sight)
        self.redraw(follow=False)

    def on_resize(self, event: Resize) -> None:
        self.redraw()

    async def _on_key(self, event: Key) -> None:
        """Each key is obeyed here, when the one before is done: it is about the cell that is chosen then.

        What was typed right behind Enter is text, and no command.
        """
        if event is self.editor.last_seen:
            return
        if self.changing is not None:
            with suppress(WorkerError):  # Who began it tells what went wrong.
                await self.changing.wait()
        if self.editor.display:
            self.editor.post_message(Key(event.key, event.character))
        elif not self.screen.is_current or not await did_at_once(self.screen, event.key):
            return
        event.stop()
        event.prevent_default()

    def _on_paste(self, event: Paste) -> None:
        event.stop()
        if self.editor.display and event is not self.editor.last_seen:
            self.editor.post_message(Paste(event.text))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self.scroll_lines(3)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self.scroll_lines(-3)

    def render_line(self, y: int) -> Strip:
        rows = self._rows()
        width = self.size.width
        if y >= len(rows):
            return Strip.blank(width, self.rich_style)
        index, row = rows[y]
        strip = Strip([_CHOSEN if index == self.chosen else _OTHER, *row])
        return strip.extend_cell_length(width).crop(0, width).apply_style(self.rich_style)

    def tick(self) -> None:
        """Time has gone on: what runs shows it."""
        if self.running:
            self.redraw(follow=False)

    def _rows(self) -> list[tuple[int, Row]]:
        """What is in sight: of each row, which cell it belongs to."""
        if self._drawn is None:
            drawn: list[tuple[int, Row]] = []
            index, line = self._top
            while index < len(self.cells) and len(drawn) < self.size.height:
                drawn += [(index, row) for row in self._rows_of(index)[line:]]
                index, line = index + 1, 0
            self._drawn = drawn[: self.size.height]
        return self._drawn

    def _rows_of(self, index: int) -> list[Row]:
        cell = self.cells[index]
        look = Look(
            width=max(8, self.size.width - 1),
            expanded=self.expanded and index == self.chosen,
            coloured=not self.app.no_color,
            dark=self.app.current_theme.dark,
            now=time.time() if self.running else 0.0,
        )
        return self._looks.rows(
            cell,
            look,
            place=self._place(index),
            running=self.running.get(cell.key),
            gap=self._gap(index),
            language=self.language,
        )

    def _place(self, index: int) -> int:
        return index - sum(each.gone for each in self.cells[:index])

    def _gap(self, index: int) -> int | None:
        if index != self.chosen or not self.editor.display:
            return None
        return self.editor.wanted_height(self._editor_width, max(3, self.size.height - 3))

    @property
    def _editor_width(self) -> int:
        return max(8, self.size.width - 4)

    def _height(self, index: int) -> int:
        return len(self._rows_of(index))

    def _have_chosen_in_sight(self) -> None:
        """Move as little as possible. Of a cell that is higher than the screen, the beginning is shown."""
        if not self.cells or not self.size.height:
            return
        top, line = self._top
        if self.chosen < top or (self.chosen == top and line):
            self._top = (self.chosen, 0)
            return
        room = self.size.height + line
        for index in range(top, self.chosen + 1):
            room -= self._height(index)
            if room < 0:
                break
        else:
            return
        self._top = self._top_for_foot(self.chosen)

    def _top_for_foot(self, last: int) -> tuple[int, int]:
        """Where to begin for this cell to end at the foot of the screen, or to begin at its head."""
        room, index = self.size.height - self._height(last), last
        if room <= 0:
            return (last, 0)
        while index > 0 and room > 0:
            index -= 1
            room -= self._height(index)
        return (index, max(0, -room))

    def _place_editor(self) -> None:
        editor = self.editor
        if not editor.display:
            return
        rows = [row for row, (index, _) in enumerate(self._rows()) if index == self.chosen]
        hidden = self._top[1] if self._top[0] == self.chosen else 0
        first = (rows[0] if rows else 0) - hidden + 1
        editor.styles.offset = (3, first)
        editor.styles.width = self._editor_width
        editor.styles.height = self._gap(self.chosen) or 1
