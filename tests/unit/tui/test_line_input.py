"""A field of one line: keys that come at once are taken in the order in which they were pressed."""

from textual.app import App, ComposeResult
from textual.events import Key

from pisces.tui.line_input import LineInput


class Field(App[None]):
    """One field, and what was submitted in it."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield LineInput("one")

    def on_input_submitted(self, message: LineInput.Submitted) -> None:
        self.said.append(message.value)


async def test_what_is_deleted_typed_and_submitted_at_once_is_so_in_this_order() -> None:
    app = Field()
    async with app.run_test() as pilot:
        pressed = [("ctrl+u", None), *((letter, letter) for letter in "twx"), ("backspace", None), ("o", "o")]
        for key, character in [*pressed, ("enter", "\r"), ("!", "!")]:
            app.post_message(Key(key, character))
        await pilot.pause()
        await pilot.press("enter")
    assert app.said == ["two", "two!"]
