"""A search through what was typed before: the list grows shorter as one types."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from pisces.tui.editor.pasted import fit, in_order
from pisces.tui.line_input import LineInput

_MOST_SHOWN: Final = 200
_MOST_WIDTH: Final = 200
_PREVIEWED: Final = 8


class InputSearch(ModalScreen[str | None]):
    """One of the inputs, or None. The newest comes first, and is chosen at once."""

    DEFAULT_CSS = """
    InputSearch {
        align: center bottom;
    }
    InputSearch > Vertical {
        height: auto;
        max-height: 100%;
        border: round $primary;
        background: $surface;
        padding: 0 1;
    }
    InputSearch Input {
        padding: 0;
        background: $surface;
    }
    InputSearch OptionList {
        height: auto;
        max-height: 40vh;
        border: none;
        padding: 0;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        background: $surface;
    }
    InputSearch Static {
        height: auto;
        max-height: 30vh;
        color: $text-muted;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c,ctrl+g", "leave", "Back", priority=True),
        Binding("up", "move(-1)", "Newer", priority=True),
        Binding("down,ctrl+r", "move(1)", "Older", priority=True),
        Binding("pageup", "move(-8)", show=False, priority=True),
        Binding("pagedown", "move(8)", show=False, priority=True),
    ]

    def __init__(self, inputs: Sequence[str]) -> None:
        super().__init__()
        self._inputs = inputs
        self._folded = [text.casefold() for text in inputs]
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "typed before"
            frame.border_subtitle = "Enter takes · Esc leaves"
            yield OptionList()
            yield Static()
            yield LineInput(placeholder="words to look for", compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._find(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self._found[at])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        lines = fit(self._found[event.option_index]).split("\n")[:_PREVIEWED]
        self.query_one(Static).update(Content("\n".join(map(_shown, lines)) if len(lines) > 1 else ""))

    def action_move(self, steps: int) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            options.highlighted = min(max(0, options.highlighted + steps), len(self._found) - 1)

    def action_leave(self) -> None:
        self.dismiss(None)

    def _find(self, words: str) -> None:
        wanted = words.casefold().split()
        hits = (at for at, text in enumerate(self._folded) if all(word in text for word in wanted))
        self._found = [self._inputs[at] for at, _ in zip(hits, range(_MOST_SHOWN), strict=False)]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(Content(_line_with(text, wanted))) for text in self._found)
        options.highlighted = 0 if self._found else None
        if not self._found:
            self.query_one(Static).update(Content("Nothing that was typed has that in it."))


def _line_with(text: str, words: Sequence[str]) -> str:
    """The line of an input that tells why it was found; its first where nothing is looked for."""
    lines = [line for line in fit(text[:100_000]).split("\n") if line.strip()] or [""]
    hit = next((line for line in lines if words and words[0] in line.casefold()), lines[0])
    more = f"  … {len(lines)} lines" if len(lines) > 1 else ""
    return _shown(hit.strip()) + more


def _shown(line: str) -> str:
    return in_order(line[:_MOST_WIDTH])
