"""The field in which the source of one cell is edited, in its place."""

from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Paste
from textual.widget import Widget

from pisces.tui.editor.code_area import CodeArea, Complete
from pisces.tui.notebook.book import BookCell


class CellEditor(CodeArea):
    """As high as its text, as far as there is room."""

    DEFAULT_CSS = """
    CellEditor { border: none; padding: 0; background: $boost; }
    CellEditor:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+enter", "screen.run_on", "Run, go on", show=False),
        Binding("ctrl+enter,f5", "screen.run", "Run", show=False),
    ]

    end_edit: Callable[[], None]
    """Who uses it says what Esc does."""
    last_seen: Event | None = None
    """What was typed or pasted here last: it comes by those above, too."""
    cell: BookCell | None = None
    """Whose source was edited here last: whichever cell is chosen, what is typed here is a draft of this one."""
    _begun_with = ""

    def begin(self, cell: BookCell, complete: Complete) -> bool:
        """Edit the source of this cell from now on; whether all of it can be edited as it is."""
        self.cell = cell
        self._wanted_language = "python" if cell.kind == "code" else None
        self.completing.complete = complete if cell.kind == "code" else None
        self.load_text(cell.source)
        self.colour()
        self.display = True
        self._begun_with = self.text
        return self._begun_with == cell.source

    def has_changed(self) -> bool:
        """Whether the person has changed the text."""
        if not self.display or self.text == self._begun_with:
            return False
        self._begun_with = self.text
        return True

    async def _on_key(self, event: Key) -> None:
        """Esc ends the edit here and now: a key that was pressed right behind it is no text, but a command."""
        self.last_seen = event
        if self.display and (event.key != "escape" or self.completing.is_open):
            return  # The handler of the class above comes next.
        event.stop()
        event.prevent_default()
        if self.display:
            self.end_edit()
        elif isinstance(self.parent, Widget):
            self.parent.post_message(Key(event.key, event.character))

    async def _on_paste(self, event: Paste) -> None:
        self.last_seen = event

    def wanted_height(self, width: int, most: int) -> int:
        """Lines of the screen that it needs in so many columns, one of which is the cursor's."""
        room = max(1, width - 1)
        lines = sum(1 + max(0, cell_len(line) - 1) // room for line in self.document.lines[:most])
        return max(1, min(most, lines))
