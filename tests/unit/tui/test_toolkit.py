"""Inner parts of textual that the UI builds on: a release that has others in their place is noticed here first."""

import inspect

import pytest
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.dom import DOMNode
from textual.drivers.linux_driver import LinuxDriver
from textual.widget import Widget
from textual.widgets import TextArea


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (App, "_handle_exception"),
        (LinuxDriver, "run_input_thread"),
        (LinuxDriver, "_sigcont_application"),
        (LinuxDriver, "process_message"),
        (TextArea, "_app_theme_changed"),
        (TextArea, "_delete_via_keyboard"),
        (TextArea, "_find_columns_to_next_tab_stop"),
        (TextArea, "_on_key"),
        (TextArea, "_replace_via_keyboard"),
        (TextArea, "_restart_blink"),
        (Widget, "_scroll_update"),
        (XTermParser, "feed"),
        (XTermParser, "tick"),
    ],
)
def test_what_is_called_or_replaced_is_there(owner: type, name: str) -> None:
    assert callable(getattr(owner, name, None))


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (App, ("_exception", "_exception_event", "_return_code", "no_color")),
        (DOMNode, ("_bindings",)),
        (LinuxDriver, ("exit_event", "fileno", "_auto_restart", "_must_signal_resume")),
    ],
)
def test_what_is_read_or_set_is_there(owner: type, names: tuple[str, ...]) -> None:
    source = inspect.getsource(owner)
    assert [name for name in names if f"self.{name}" not in source] == []


def test_what_is_replaced_is_what_textual_calls() -> None:
    assert "run_input_thread" in inspect.getsource(LinuxDriver._run_input_thread)
    assert "_app_theme_changed" in inspect.getsource(TextArea)
    assert "_sigcont_application" in inspect.getsource(LinuxDriver.__init__)
