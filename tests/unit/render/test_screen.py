"""Which terminals can show pictures, and what is known of a place to write to."""

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Iterator

import pytest

from pisces.render.screen import Screen, pictures_of


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "iterm"),
        ({"TERM": "xterm-256color"}, "blocks"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, "blocks"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux-0/default,1,0"}, "blocks"),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, "blocks"),
        ({"TERM": "screen-256color", "LC_TERMINAL": "iTerm2"}, "blocks"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "mlterm-256color"}, "sixel"),
        ({"TERM": "foot", "TMUX": "/tmp/tmux-0/default,1,0"}, "blocks"),
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, "none"),
        ({}, "none"),
    ],
    ids=lambda value: ",".join(value.values()) if isinstance(value, dict) else value,
)
def test_the_environment_tells_how_pictures_are_shown(environ: dict[str, str], way: str) -> None:
    assert pictures_of(environ) == way


@pytest.fixture
def terminal() -> Iterator[int]:
    """A real terminal of 120 columns, each 8 pixels wide."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 960, 800))
    yield follower
    os.close(leader)
    os.close(follower)


def test_a_terminal_has_its_own_width_and_colours(terminal: int) -> None:
    screen = Screen.of(terminal, {"TERM": "xterm-kitty"})
    assert screen == Screen(width=120, styled=True, coloured=True, pictures="kitty", column_pixels=8.0)


def test_no_color_leaves_styles_and_pictures(terminal: int) -> None:
    screen = Screen.of(terminal, {"TERM": "xterm-kitty", "NO_COLOR": "1"})
    assert (screen.styled, screen.coloured, screen.pictures) == (True, False, "kitty")


def test_no_color_leaves_no_half_blocks(terminal: int) -> None:
    assert Screen.of(terminal, {"TERM": "xterm-256color"}).pictures == "blocks"
    assert Screen.of(terminal, {"TERM": "xterm-256color", "NO_COLOR": "1"}).pictures == "none"


def test_a_dumb_terminal_gets_text_alone(terminal: int) -> None:
    assert Screen.of(terminal, {"TERM": "dumb", "KITTY_WINDOW_ID": "1"}) == Screen(width=120, column_pixels=8.0)


def test_the_user_knows_better_how_pictures_are_shown(terminal: int) -> None:
    assert Screen.of(terminal, {"TERM": "xterm", "TERM_PROGRAM": "vscode"}, pictures="iterm").pictures == "iterm"
    assert Screen.of(terminal, {"TERM": "xterm-kitty"}, pictures="none").pictures == "none"


def test_what_is_no_terminal_gets_text_alone_whatever_the_environment_says() -> None:
    reading, writing = os.pipe()
    try:
        assert Screen.of(writing, {"TERM": "xterm-kitty"}, pictures="kitty") == Screen()
    finally:
        os.close(reading)
        os.close(writing)
