"""A question that is answered with yes or no."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Button

from pisces.tui.dialogs.dialog import Dialog


class Confirm(Dialog[bool]):
    """Yes, by its key or its button; everything else is no. The focus is on no: Enter by mistake loses nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n", "answer(False)", "No"),
        Binding("left,right", "app.focus_next", show=False),
    ]

    def __init__(self, question: str, *, yes: str = "Yes", no: str = "No") -> None:
        super().__init__(question)
        self._yes, self._no = yes, no

    def compose_answer(self) -> ComposeResult:
        with Horizontal(classes="buttons"):
            yield Button(f"{self._no} (n)", id="no", compact=True)
            yield Button(f"{self._yes} (y)", id="yes", variant="warning", compact=True)

    def on_button_pressed(self, message: Button.Pressed) -> None:
        self.dismiss(message.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
