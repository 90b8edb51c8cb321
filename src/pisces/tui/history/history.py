"""The history on the screen: as many lines as there are, of which only those in sight are made."""

import time
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from pisces.render.blocks import Image
from pisces.render.look import Look
from pisces.render.view import CellView
from pisces.tui.desk.items import CellItem, Item, NoticeItem
from pisces.tui.desk.timeline import Timeline
from pisces.tui.history.drawing import GUTTER, Drawing, Paint, guessed_height
from pisces.tui.history.layout import Layout
from pisces.tui.history.words import output_text, typed_text

_FRAMES_PER_SECOND: Final = 8
_NARROWEST: Final = 18


class History(ScrollView, can_focus=True):
    """Shows a timeline. It follows the end unless somebody has scrolled up."""

    DEFAULT_CSS = """
    History {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "select(-1)", "Previous item", show=False),
        Binding("down", "select(1)", "Next item", show=False),
        Binding("pageup", "scroll_by(-1)", "Page up", show=False),
        Binding("pagedown", "scroll_by(1)", "Page down", show=False),
        Binding("home", "go(0)", "Beginning", show=False),
        Binding("end", "go(1)", "End", show=False),
        Binding("enter", "expand", "Expand", show=False),
        Binding("escape", "deselect", "Deselect", show=False),
        Binding("c", "copy_code", "Code to the editor", show=False),
        Binding("y", "copy_output", "Copy output", show=False),
        Binding("o", "open_artifact", "Open artifact", show=False),
        Binding("i", "open_picture", "Show picture", show=False),
    ]

    class ArtifactWanted(Message):
        """Somebody wants to read all of the text of a cell."""

        def __init__(self, id: str) -> None:  # noqa: A002 - what an artifact is known by
            super().__init__()
            self.id = id

    class PictureWanted(Message):
        """Somebody wants to see a picture."""

        def __init__(self, image: Image) -> None:
            super().__init__()
            self.image = image

    class CodeWanted(Message):
        """Somebody wants the code of a cell in the editor."""

        def __init__(self, code: str) -> None:
            super().__init__()
            self.code = code

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's own name for it
        super().__init__(id=id)
        self._timeline = Timeline()
        self._layout = Layout()
        self._drawing = Drawing()
        self._selected: int | None = None
        self._all_expanded = False
        self._others: set[int] = set()
        """The items that are expanded while all others are not, or the other way round."""
        self._follows = True
        self._seen = 0
        """How many items there were when the end was last in sight."""
        self._placing = False
        self._width, self._height = _NARROWEST, 0
        self._style, self._dark, self._coloured = Style(), True, True

    @property
    def selected(self) -> Item | None:
        """The item that keys act on."""
        return None if self._selected is None else self._timeline.items[self._selected]

    def on_mount(self) -> None:
        self.set_interval(1 / _FRAMES_PER_SECOND, self._tick)

    def show(self, timeline: Timeline) -> None:
        """Show this one from now on."""
        if timeline is not self._timeline:
            self._timeline = timeline
            self._layout, self._drawing = Layout(), Drawing()
            self._selected, self._others, self._follows = None, set(), True
        self.changed()

    def changed(self) -> None:
        """The timeline has grown, or something in it has changed."""
        self._settle()
        self.refresh()

    def toggle_expanded(self) -> None:
        """Show all of the selected item, or its beginning; without a selection, of every one."""
        if self._selected is not None:
            self._others ^= {self._selected}
        else:
            self._all_expanded = not self._all_expanded
            self._others.clear()
        self.changed()

    # What is on the screen.

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        index = self._layout.at(line)
        lines = self._lines(index) if index < len(self._layout) else ()
        offset = line - self._layout.top(index) if lines else 0
        strip = lines[offset] if offset < len(lines) else Strip.blank(self._width + GUTTER, self._style)
        hint = self._hint if y == self._height - 1 else ""
        if hint and len(hint) < strip.cell_length:
            rest = strip.crop(0, strip.cell_length - len(hint))
            return Strip.join([rest, Strip([Segment(hint, self._style + Style(reverse=True))])])
        return strip

    @property
    def _hint(self) -> str:
        new = len(self._timeline.items) - self._seen
        return f" ↓ {new} new " if not self._follows and new > 0 else ""

    def _lines(self, index: int) -> list[Strip]:
        item = self._timeline.items[index]
        look = Look(
            width=self._width,
            expanded=(index in self._others) != self._all_expanded,
            variant="tool" if isinstance(item, CellItem) and not item.own else "own",
            coloured=self._coloured,
            dark=self._dark,
            now=int(time.time() * _FRAMES_PER_SECOND) / _FRAMES_PER_SECOND if item.running else 0.0,
        )
        return self._drawing.lines(item, Paint(look, self._style, index == self._selected))

    def _look_around(self) -> None:
        """Take note of what all lines depend on, once for all of them."""
        region = self.scrollable_content_region
        self._width, self._height = max(_NARROWEST, region.width - GUTTER), region.height
        self._style, self._dark = self.rich_style, self.app.current_theme.dark
        self._coloured = not self.app.no_color

    # Where it is.

    def _settle(self) -> None:
        """Draw what is in sight, and put it where it belongs: what a person looks at stays where it is."""
        self._look_around()
        for item in self._timeline.items[len(self._layout) :]:
            self._layout.add(guessed_height(item))
        if not self._height:
            return
        if self._follows:
            self._measure_upwards()
            self._seen = len(self._layout)
            self._place(self._layout.total - self._height)
        else:
            self._place(self._measure_from(self.scroll_offset.y))

    def _measure_upwards(self) -> None:
        left, index = self._height, len(self._layout) - 1
        while left > 0 and index >= 0:
            lines = len(self._lines(index))
            self._layout.measure(index, lines)
            left, index = left - lines, index - 1

    def _measure_from(self, line: int) -> int:
        """Where the first line in sight is when all that is in sight has been drawn.

        An item that begins above is moved so that its end stays where it is.
        """
        index = self._layout.at(line)
        if index < len(self._layout):
            offset = line - self._layout.top(index)
            higher = self._layout.measure(index, len(self._lines(index)))
            if offset:
                line = max(self._layout.top(index), line + higher)
        while index < len(self._layout) and self._layout.top(index) < line + self._height:
            self._layout.measure(index, len(self._lines(index)))
            index += 1
        return line

    def _place(self, line: int) -> None:
        self._placing = True
        try:
            size = Size(self._width, self._layout.total)
            if size != self.virtual_size:
                # As if it were assigned, but without a new layout of the whole screen: our own size stays the same.
                self.set_reactive(Widget.virtual_size, size)
                self._scroll_update(size)
            self.scroll_y = self.scroll_target_y = max(0, line)
        finally:
            self._placing = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
            self._follows = round(new_value) >= self.max_scroll_y
            self._settle()
            self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.changed()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self._height:
            self.changed()

    def _tick(self) -> None:
        """Draw again what runs, if it is in sight: only its own lines, unless it has become longer."""
        top = self.scroll_offset.y
        for index in range(self._layout.at(top), min(len(self._layout), self._layout.at(top + self._height) + 1)):
            item = self._timeline.items[index]
            if not item.running and not self._drawing.is_behind(item):
                continue
            if len(self._lines(index)) != self._layout.bottom(index) - self._layout.top(index):
                self.changed()
                return
            start = self._layout.top(index) - top
            self.refresh(Region(0, max(0, start), self.size.width, self._layout.bottom(index) - top - max(0, start)))

    # What keys do.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that act on an item do nothing without one, and go on to whoever else wants them."""
        needs_item = ("expand", "deselect", "copy_code", "copy_output", "open_artifact", "open_picture")
        return self._selected is not None if action in needs_item else True

    def action_select(self, step: int) -> None:
        """Go to another item; down from the last one, to none."""
        count = len(self._layout)
        if self._selected is None:
            last = min(count - 1, self._layout.at(self.scroll_offset.y + self._height - 1))
            self._select(last if step < 0 and count else None)
        else:
            chosen = max(0, self._selected + step)
            self._select(chosen if chosen < count else None)

    def action_deselect(self) -> None:
        """Go back to the end."""
        self._select(None)

    def action_scroll_by(self, pages: int) -> None:
        """Go up or down by what is in sight."""
        self.scroll_to(y=self.scroll_offset.y + pages * max(1, self._height - 2), animate=False)

    def action_go(self, end: int) -> None:
        """Go to the beginning, or to the end."""
        self.scroll_to(y=self._layout.total if end else 0, animate=False)

    def action_expand(self) -> None:
        """Enter: all of the selected item, or its beginning."""
        self.toggle_expanded()

    def action_copy_code(self) -> None:
        """Have the code in the editor."""
        view = self._view()
        if view is not None:
            self.post_message(self.CodeWanted(typed_text(view)))

    def action_copy_output(self) -> None:
        """Have the output, as text, in the clipboard."""
        item, view = self.selected, self._view()
        text = item.notice.text if isinstance(item, NoticeItem) else output_text(view) if view is not None else ""
        if text:
            self.app.copy_to_clipboard(text)
        self.notify("Copied." if text else "It has no text.", timeout=2)

    def action_open_artifact(self) -> None:
        """Read all of the text."""
        view = self._view()
        if view is not None and view.artifact_id:
            self.post_message(self.ArtifactWanted(view.artifact_id))
        else:
            self.notify("Nothing of its text was cut: it has no artifact.", timeout=3)

    def action_open_picture(self) -> None:
        """See the last picture of the cell as large as the screen."""
        view = self._view()
        pictures = [block for block in view.blocks if isinstance(block, Image)] if view is not None else []
        if pictures:
            self.post_message(self.PictureWanted(pictures[-1]))
        else:
            self.notify("It has no picture.", timeout=2)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        index = self._layout.at(offset.y + self.scroll_offset.y) if offset is not None else len(self._layout)
        if index < len(self._layout):
            self._selected = index
            self.refresh()

    def _view(self) -> CellView | None:
        item = self.selected
        return None if item is None else self._drawing.view(item)

    def _select(self, index: int | None) -> None:
        self._selected = index
        if index is None:
            self._follows = True
        else:
            self._bring_into_sight(index)
        self.changed()

    def _bring_into_sight(self, index: int) -> None:
        self._layout.measure(index, len(self._lines(index)))
        self._follows = False
        top, bottom, first = self._layout.top(index), self._layout.bottom(index), self.scroll_offset.y
        if bottom > first + self._height:
            first = bottom - self._height
        self._place(min(first, top))
        self._follows = index == len(self._layout) - 1
