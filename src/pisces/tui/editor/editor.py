"""The editor at the foot of the screen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.widgets import TextArea

from pisces.tui.desk.typed import Typed, split_prefix, understood
from pisces.tui.editor.code_area import CodeArea, Complete
from pisces.tui.editor.past_inputs import PastInputs
from pisces.tui.editor.recall import Recall
from pisces.tui.editor.search import InputSearch
from pisces.tui.editor.whole import is_whole

_PLACEHOLDER: Final = "Enter runs · Ctrl+J new line · F1 help"


class Editor(CodeArea):
    """Takes what is to be run. Enter runs it when it is whole, and else makes a new line."""

    DEFAULT_CSS = """
    Editor {
        height: auto;
        border: round $primary 40%;
        background: $background;
    }
    Editor:focus {
        border: round $primary;
    }
    Editor.-shell, Editor.-shell:focus {
        border: round $warning;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,ctrl+enter", "submit", "Run", show=False),
        Binding("f6", "submit(True)", "Run in the background", show=False),
        Binding("ctrl+up,alt+up", "earlier", "Earlier input", show=False),
        Binding("ctrl+down,alt+down", "later", "Later input", show=False),
        Binding("ctrl+r", "search", "Search what was typed", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """The person wants this run."""

        typed: Typed
        background: bool = False

    def __init__(
        self,
        *,
        complete: Complete | None = None,
        past: PastInputs | None = None,
        id: str | None = None,  # noqa: A002 - textual's own name for it
    ) -> None:
        super().__init__(complete=complete, placeholder=_PLACEHOLDER, id=id)
        self.past = past or PastInputs()
        self._recall = Recall(lambda: self.past.typed)
        self._drafts: dict[str, str] = {}
        self._session = ""
        self._told_of_file = False
        self._show_kind()

    def on_mount(self) -> None:
        self._with_file(self.past.load)

    # What others call --------------------------------------------------------------------------------------------

    def take(self, code: str) -> None:
        """Have this text, to be run or changed. What was there comes back with undo."""
        self._have(code)
        self.focus()

    def work_at(self, session: str) -> None:
        """Another session is in sight: what was typed for the one before, and not run, waits for it."""
        if session != self._session:
            self._drafts[self._session] = self.text
            self._session = session
            self._recall.end()
            self.load_text(self._drafts.pop(session, ""))
            self.move_cursor(self.document.end)

    # What keys do ------------------------------------------------------------------------------------------------

    def action_enter(self) -> None:
        lines, (row, _) = self.document.lines, self.cursor_location
        at_end = not any(line.strip() for line in lines[row + 1 :])
        if at_end and is_whole(self.judged("\n".join(lines[: row + 1]))):
            self.action_submit()
        else:
            self.action_newline()

    def action_submit(self, background: bool = False) -> None:
        """Have it run, whole or not."""
        text = self.text
        typed = understood(text)
        if typed is None:
            return
        self.completing.close()
        self.post_message(self.Submitted(typed, background))
        if self.past.add(text):
            self._with_file(lambda: self.past.keep(text))
        self._recall.end()
        self.load_text("")

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_earlier()
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_later()
        else:
            super().action_cursor_down(select)

    def action_earlier(self) -> None:
        """What was typed before this, with the cursor where the same key goes on to what was before that."""
        text = self._recall.earlier(self.text)
        if text is not None:
            self._have(text)
            self.move_cursor((0, len(self.document.get_line(0))))

    def action_later(self) -> None:
        """The way back."""
        text = self._recall.later(self.text)
        if text is not None:
            self._have(text)

    def action_search(self) -> None:
        """Look for something that was typed before."""
        self.completing.close()
        inputs = self.past.all
        if not inputs:
            self.notify("Nothing has been typed yet.")
            return
        self.app.push_screen(InputSearch(inputs), self._take_found)

    # ---------------------------------------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As much as the text needs, up to a third of the screen, and a line at least."""
        most = max(1, viewport.height // 3 - self.gutter.height)
        return min(most, super().get_content_height(container, viewport, width))

    def completed_part(self) -> tuple[str, int]:
        _, prefix, rest = split_prefix(self.shown)
        return rest, len(prefix)

    def _take_found(self, found: str | None) -> None:
        if found is not None:
            self.take(found)

    def _have(self, text: str) -> None:
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    def _is_code(self) -> bool:
        return split_prefix(self.shown)[0] == "python"

    def _on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._show_kind()

    def _show_kind(self) -> None:
        kind = "python" if self._is_code() else "shell"
        self.border_title = kind
        self.set_class(kind == "shell", "-shell")

    def _with_file(self, doing: Callable[[], None]) -> None:
        """Do something with the file of past inputs, beside the screen: it may be on a slow disk."""
        self.run_worker(lambda: self._tell_failure(doing), group="past", thread=True, exit_on_error=False)

    def _tell_failure(self, doing: Callable[[], None]) -> None:
        try:
            doing()
        except OSError as error:
            if not self._told_of_file:
                self._told_of_file = True
                self.app.call_from_thread(
                    self.notify, f"What you type is not kept for later: {error}", severity="warning", markup=False
                )
