"""A question that is answered with a line of text."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.widgets import Input, Static

from pisces.tui.dialogs.dialog import Dialog, plain
from pisces.tui.line_input import LineInput

Check = Callable[[str], str]
"""What is wrong with a text, in a sentence; nothing where it is good."""


class Ask(Dialog[str]):
    """A line of text, with a proposal in it. A bad one is answered with what is wrong, and can be mended."""

    def __init__(self, question: str, *, proposal: str = "", hint: str = "", check: Check = lambda text: "") -> None:
        super().__init__(question)
        self._proposal, self._hint, self._check = proposal, hint, check

    def compose_answer(self) -> ComposeResult:
        yield LineInput(self._proposal, placeholder=self._hint, select_on_focus=True, compact=True)
        yield Static("", classes="wrong")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        text = message.value.strip()
        wrong = self._check(text) if text else "Type something, or go back with Esc."
        if wrong:
            self.query_one(".wrong", Static).update(plain(wrong))
        else:
            self.dismiss(text)
