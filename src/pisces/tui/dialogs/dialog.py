"""What all questions have in common: a frame in the middle, and two keys that lead out of it."""

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from pisces.render.notices import clean_text

_Answer = TypeVar("_Answer")


class Dialog(ModalScreen[_Answer | None]):
    """A question. None is the answer of a person who goes away."""

    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-roomy")]  # noqa: RUF012 - textual declares its type
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", priority=True),
        Binding("ctrl+c", "leave", "Back", show=False, priority=True),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(plain(self._question), classes="question")
            yield from self.compose_answer()

    def compose_answer(self) -> ComposeResult:
        """What the answer is given with."""
        yield from ()

    def action_leave(self) -> None:
        self.dismiss(None)


def plain(text: str) -> Content:
    """Text of others, which is neither markup nor an order to the terminal."""
    return Content(clean_text(text))
