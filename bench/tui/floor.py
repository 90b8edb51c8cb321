"""An app that does nothing but take text: what the toolkit itself costs."""

from textual.app import App, ComposeResult
from textual.widgets import TextArea


class _Floor(App[None]):
    def compose(self) -> ComposeResult:
        yield TextArea.code_editor("ready", language="python")


if __name__ == "__main__":
    _Floor().run()
