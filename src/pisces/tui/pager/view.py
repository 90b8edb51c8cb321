"""The lines of a file on the screen: only those in sight are read, and only they are made."""

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.events import MouseScrollDown, MouseScrollUp, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pisces.tui.pager.rows import PagedFile, shown
from pisces.tui.pager.search import Matches

Place = tuple[int, int]
"""A row, and which line of it where it is wrapped."""
_HIT = Style(reverse=True)
_PAST_END = Strip([Segment("~", Style(dim=True))])


class PagerView(Widget, can_focus=True):
    """A window on rows. The screen tells it where to go."""

    DEFAULT_CSS = "PagerView { height: 1fr; }"

    class Moved(Message):
        """Something else is in sight."""

    def __init__(self) -> None:
        super().__init__()
        self.top: Place = (0, 0)
        self.left = 0
        self.wraps = False
        self.matches: Matches | None = None
        self._file: PagedFile | None = None
        self._strips: list[Strip] | None = None
        self._bottom = 0

    def look_at(self, file: PagedFile) -> None:
        """Show this file."""
        self._file = file
        self.redraw()

    @property
    def in_sight(self) -> tuple[int, int]:
        """The first and the last row that can be seen."""
        self._drawn()
        return self.top[0], self._bottom

    @property
    def at_end(self) -> bool:
        """Whether the last row that is known can be seen."""
        return self._file is None or self.in_sight[1] >= self._file.rows - 1

    def redraw(self) -> None:
        """What there is to see has changed."""
        self._strips = None
        self.refresh()
        self.post_message(self.Moved())

    def move(self, lines: int) -> None:
        """Go down by so many lines of the screen, or up; never past the end."""
        for _ in range(abs(lines)):
            place = self._next(self.top) if lines > 0 else self._previous(self.top)
            if place is None:
                break
            self.top = place
        if lines > 0:
            self.top = min(self.top, self._last_top())
        self.redraw()

    def go_to(self, row: int, *, from_top: int = 0) -> None:
        """Have a row in sight, so many lines below the first one."""
        self.top = (max(0, min(row, self._rows - 1)), 0)
        for _ in range(from_top):
            self.top = self._previous(self.top) or self.top
        self.top = max((0, 0), min(self.top, self._last_top()))
        self.redraw()

    def go_to_end(self) -> None:
        """Have the last rows in sight."""
        self.top = self._last_top()
        self.redraw()

    def shift(self, columns: int) -> None:
        """Go to the right, or to the left."""
        self.left = 0 if self.wraps else max(0, self.left + columns)
        self.redraw()

    def toggle_wrap(self) -> None:
        """Break long rows at the edge, or let them go on beyond it."""
        self.wraps, self.left, self.top = not self.wraps, 0, (self.top[0], 0)
        self.redraw()

    def on_resize(self, event: Resize) -> None:
        self.top = (self.top[0], 0)
        self.redraw()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self.move(3)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self.move(-3)

    def render_line(self, y: int) -> Strip:
        strips = self._drawn()
        strip = strips[y] if y < len(strips) else _PAST_END
        return strip.extend_cell_length(self.size.width).crop(0, self.size.width).apply_style(self.rich_style)

    def _drawn(self) -> list[Strip]:
        if self._strips is None:
            strips: list[Strip] = []
            place: Place | None = self.top if self._rows else None
            self._bottom = self.top[0]
            while place is not None and len(strips) < max(1, self.size.height):
                row, part = place
                self._bottom = row
                made = self._strips_of(row)
                strips += made[part : part + self.size.height - len(strips)]
                place = (row + 1, 0) if row + 1 < self._rows else None
            self._strips = strips
        return self._strips

    def _strips_of(self, row: int) -> list[Strip]:
        text = self._text(row)
        hits = self.matches.spans(row) if self.matches is not None else []
        strip = Strip(_marked(text, hits))
        if not self.wraps:
            return [strip.crop(self.left, self.left + self.size.width)]
        strips, at = [], 0
        for piece in _wrapped(text, self.size.width):
            end = at + cell_len(piece)
            strips.append(strip.crop(at, end))
            at = end
        return strips

    def _text(self, row: int) -> str:
        assert self._file is not None
        return shown(self._file.row(row))

    @property
    def _rows(self) -> int:
        return 0 if self._file is None else self._file.rows

    def _height(self, row: int) -> int:
        return len(_wrapped(self._text(row), self.size.width)) if self.wraps else 1

    def _next(self, place: Place) -> Place | None:
        row, part = place
        if part + 1 < self._height(row):
            return row, part + 1
        return (row + 1, 0) if row + 1 < self._rows else None

    def _previous(self, place: Place) -> Place | None:
        row, part = place
        if part:
            return row, part - 1
        return (row - 1, self._height(row - 1) - 1) if row else None

    def _last_top(self) -> Place:
        """The place to begin with for the last row to be at the foot of the screen."""
        if not self._rows:
            return (0, 0)
        place: Place = (self._rows - 1, self._height(self._rows - 1) - 1)
        for _ in range(self.size.height - 1):
            place = self._previous(place) or (0, 0)
        return place


def _wrapped(text: str, width: int) -> list[str]:
    return chop_cells(text, max(2, width)) or [""]


def _marked(text: str, hits: list[tuple[int, int]]) -> list[Segment]:
    segments, at = [], 0
    for start, end in hits:
        segments += [Segment(text[at:start]), Segment(text[start:end], _HIT)]
        at = end
    return [segment for segment in [*segments, Segment(text[at:])] if segment.text]
