"""Help: every key, by its topic."""

from typing import ClassVar, get_args

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from pisces.tui.keys import COMMANDS, WIDGET_KEYS, Topic, readable

_WHERE_NO_KEY = "Ctrl+P"


class HelpScreen(ModalScreen[None]):
    """Made of the table of keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,question_mark", "app.pop_screen", "Back", key_display="Esc", priority=True),
        Binding("ctrl+c", "app.pop_screen", show=False, priority=True),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(help_table())
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#help").focus()


def help_lines() -> list[tuple[str, str]]:
    """Keys and what they do; a topic has no keys."""
    lines: list[tuple[str, str]] = []
    for topic in get_args(Topic):
        lines.append(("", topic))
        for command in COMMANDS:
            if command.topic == topic:
                keys = ", ".join(map(readable, command.keys)) or _WHERE_NO_KEY
                lines.append((keys, f"{command.title}: {command.help}"))
    for place, keys_there in WIDGET_KEYS.items():
        lines.append(("", place))
        lines += ((each.keys, each.help) for each in keys_there)
    return lines


def help_table() -> Table:
    """The same for the screen, however wide that is."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(max_width=16)
    table.add_column(ratio=1)
    for keys, text in help_lines():
        if keys:
            table.add_row(Text(keys, style="bold"), Text(text))
        else:
            table.add_row("", Text(f"\n{text}", style="bold underline"))
    return table
