"""Code that is being written: in colours, indented, with completion. Who uses it decides what Enter does."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from pisces.model.completion import Completion
from pisces.tui.editor.colours import NAME, syntax_theme
from pisces.tui.editor.completing import Completing
from pisces.tui.editor.folding import LONGEST, Folding
from pisces.tui.editor.pasted import fit, in_order
from pisces.tui.editor.whole import INDENT, next_indent, one_level_less
from pisces.tui.line_input import did_at_once

Complete = Callable[[str, int], Awaitable[Completion]]
"""What could stand at a place of a text. Offsets count code points."""

MOST_COLOURED: Final = 8_000
"""Characters up to which code is in colours. Each key colours all of it anew, which takes up to 30 ms."""


class CodeArea(TextArea):
    """A field for code.

    Enter makes a new line with its indentation. Tab indents where only white space is before the cursor, and asks
    for completions elsewhere; in an empty field it goes on to the next one, so that the keyboard can always leave.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter", "newline", "New line", show=False),
        Binding("f7", "select_all", "Select all", show=False),
        Binding("ctrl+shift+c,super+c", "copy", "Copy", show=False),
    ]

    def __init__(
        self,
        text: str = "",
        *,
        complete: Complete | None = None,
        language: str | None = "python",
        show_line_numbers: bool = False,
        placeholder: str = "",
        id: str | None = None,  # noqa: A002 - textual's own name for it
        classes: str | None = None,
    ) -> None:
        self._wanted_language = language
        self._folding = Folding()
        super().__init__(
            self._folding.folded(fit(text)),
            show_line_numbers=show_line_numbers,
            placeholder=placeholder,
            id=id,
            classes=classes,
        )
        self.completing = Completing(self, complete)
        self.colour()

    @property
    def text(self) -> str:
        """All of the text, also what only a mark stands for: see `folding`."""
        return self._folding.unfolded(self.shown)

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(value)

    @property
    def shown(self) -> str:
        """The text as it is edited, with marks for what is too long for that."""
        return self.document.text

    @property
    def cursor_offset_in_text(self) -> int:
        """Where the cursor is, in characters from the beginning."""
        row, column = self.cursor_location
        return sum(len(line) + 1 for line in self.document.lines[:row]) + column

    @property
    def selected_text(self) -> str:
        """What is selected, as it is to be copied."""
        return self._folding.unfolded(super().selected_text)

    def place(self, offset: int) -> Location:
        """The row and column of a character of the text."""
        for row, line in enumerate(self.document.lines):
            if offset <= len(line):
                return row, max(0, offset)
            offset -= len(line) + 1
        return self.document.end

    def colour(self) -> None:
        """Have colours, or none where the text is not code or is too long for them."""
        wanted = self._wanted_language if self._is_code() and self._length() <= MOST_COLOURED else None
        if wanted != self.language:
            selection = self.selection
            self.language = wanted
            self.selection = selection

    def edit(self, edit: Edit) -> EditResult:
        """All that is typed and pasted comes by here."""
        edit.text = self._folding.folded(fit(edit.text))
        return super().edit(edit)

    def load_text(self, text: str) -> None:
        """Have another text, whoever wrote it."""
        self._folding.forget()
        super().load_text(self._folding.folded(fit(text)))

    def get_line(self, line_index: int) -> Text:
        return Text(in_order(self.document.get_line(line_index)), end="", no_wrap=True)

    def render_line(self, y: int) -> Strip:
        """A row; an empty one where the screen is so narrow that the frame takes all of it."""
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(self.size.width)

    def judged(self, part: str) -> str:
        """A part of what is shown as it is to be judged: all of it, where that does not take too long."""
        whole = self._folding.unfolded(part)
        return whole if len(whole) <= LONGEST else part

    def action_newline(self) -> None:
        """A new line, as far indented as it should be."""
        if self.read_only:
            return
        start, end = sorted(self.selection)
        before = self.judged(self.get_text_range((0, 0), start))
        self._replace_via_keyboard("\n" + next_indent(before), start, end)

    def action_delete_left(self) -> None:
        """Backspace. In the white space that a line begins with, a whole level goes."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if self.selection.is_empty and before and not before.strip():
            self._delete_via_keyboard((row, len(one_level_less(before))), (row, column))
        else:
            super().action_delete_left()

    def action_cut(self) -> None:
        """Cut: what a mark stands for goes to the clipboard, not the mark."""
        super().action_cut()
        if not self.read_only:
            self.app.copy_to_clipboard(self._folding.unfolded(self.app.clipboard))

    def action_indent(self) -> None:
        """One level more, for the lines that are selected or at the cursor."""
        (top, _), (bottom, _) = sorted(self.selection)
        if top == bottom and self.selection.is_empty:
            self._replace_via_keyboard(" " * self._find_columns_to_next_tab_stop(), *self.selection)
        else:
            self._change_lines(top, bottom, lambda line: INDENT + line if line.strip() else line)

    def action_dedent(self) -> None:
        """One level less, for the lines that are selected or that of the cursor."""
        (top, _), (bottom, _) = sorted(self.selection)
        self._change_lines(top, bottom, _dedented)

    def on_mount(self) -> None:
        self._app_theme_changed()

    def _app_theme_changed(self) -> None:
        """Have the colours of the app's theme, now and whenever it changes."""
        self.register_theme(syntax_theme(self.app.current_theme))
        self.theme = NAME

    async def _on_key(self, event: events.Key) -> None:
        if self.read_only:
            return
        key = event.key
        if self.completing.takes(key) or await self._pressed(key) or await did_at_once(self, key):
            event.stop()
            event.prevent_default()
            self._restart_blink()

    async def _pressed(self, key: str) -> bool:
        """Do what a key of ours does; whether it was one."""
        if key == "enter":
            self.action_enter()
        elif key == "tab" and self.shown:
            self._tab()
        elif key == "shift+tab" and any(line[:1] in (" ", "\t") for line in self._selected_lines() if line):
            self.action_dedent()
        else:
            return False
        return True

    def action_enter(self) -> None:
        """What Enter does here."""
        self.action_newline()

    def _tab(self) -> None:
        row, column = self.cursor_location
        if not self.selection.is_empty or not self.document.get_line(row)[:column].strip():
            self.action_indent()
        else:
            self.completing.ask()

    def completed_part(self) -> tuple[str, int]:
        """What to ask the kernel: a text, and how many characters of this one are before it."""
        return self.shown, 0

    def _on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area is self:
            self.colour()
            self.completing.follow()

    def _on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        if event.text_area is self:
            self.completing.follow()

    def _on_blur(self, event: events.Blur) -> None:
        self.completing.close()

    def _is_code(self) -> bool:
        return True

    def _length(self) -> int:
        return sum(map(len, self.document.lines)) + self.document.line_count

    def _selected_lines(self) -> list[str]:
        (top, _), (bottom, _) = sorted(self.selection)
        return self.document.lines[top : bottom + 1]

    def _change_lines(self, top: int, bottom: int, change: Callable[[str], str]) -> None:
        """Rewrite some lines, and leave what is selected and the cursor on the characters where they were."""
        old = self.document.lines[top : bottom + 1]
        new = [change(line) for line in old]
        start, end = (self._moved(at, old[at[0] - top], new[at[0] - top]) for at in self.selection)
        if new != old:
            self._replace_via_keyboard("\n".join(new), (top, 0), (bottom, len(old[-1])))
            self.selection = Selection(start, end)

    @staticmethod
    def _moved(at: Location, old: str, new: str) -> Location:
        return at[0], max(0, at[1] + len(new) - len(old))


def _dedented(line: str) -> str:
    text = line.lstrip(" \t")
    return one_level_less(line[: len(line) - len(text)]) + text
