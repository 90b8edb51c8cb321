"""The menu of completions, over whatever else is on the screen. The field that opened it keeps the focus."""

from collections.abc import Callable
from typing import Final

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Offset
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

_LONGEST: Final = 60
_MOST_ROWS: Final = 8


class CompletionMenu(OptionList, can_focus=False):
    """A few names below the cursor, or above it where there is no room."""

    DEFAULT_CSS = """
    CompletionMenu {
        overlay: screen;
        position: absolute;
        constrain: inside inside;
        width: auto;
        min-width: 10;
        max-width: 100%;
        height: auto;
        max-height: 8;
        padding: 0;
        border: none;
        background: $panel;
        scrollbar-size-vertical: 1;
    }
    CompletionMenu > .option-list--option-highlighted {
        background: $primary;
        color: $text;
        text-style: bold;
    }
    """

    def __init__(self, area: TextArea, word: str, taken: Callable[[str], object]) -> None:
        super().__init__()
        self.matches: list[str] = []
        self._area = area
        self._column = max(0, area.cursor_screen_offset.x - cell_len(word))
        self._taken = taken

    @property
    def chosen(self) -> str:
        """The one that the keys have come to."""
        return self.matches[self.highlighted or 0]

    def offer(self, matches: list[str]) -> None:
        """Show these, and choose the first."""
        if matches != self.matches:
            self.matches = matches
            self.clear_options()
            self.add_options(Option(Content(_short(match))) for match in matches)
            self._go_beside_the_cursor(min(len(matches), _MOST_ROWS))
        self.highlighted = self.highlighted or 0

    def move(self, steps: int) -> None:
        """Choose another. From the last it goes on to the first."""
        at, count = self.highlighted or 0, len(self.matches)
        self.highlighted = (at + steps) % count if abs(steps) == 1 else min(max(0, at + steps), count - 1)

    def _go_beside_the_cursor(self, rows: int) -> None:
        """Below it where there is room or more of it, else above: what is being typed stays in sight."""
        line = self._area.cursor_screen_offset.y
        below = self._area.screen.size.height - line - 1
        self.styles.max_height = max(1, min(rows, max(line, below)))
        above = below < rows and line > below
        self.absolute_offset = Offset(self._column, line - min(rows, line) if above else line + 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._taken(self.matches[event.option_index])


def _short(match: str) -> str:
    line = match.replace("\n", "⏎")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
