"""What the place can do that is written to: how wide it is, and whether it knows colours and pictures."""

import os
import struct
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

Pictures = Literal["kitty", "iterm", "sixel", "blocks", "none"]
"""How pictures get into a terminal: by kitty's protocol, that of iTerm2, as sixels, as coloured halves of characters,
or not at all."""

_USUAL_WIDTH: Final = 80
_USUAL_COLUMN: Final = 10.0
_DUMB: Final = frozenset({"", "dumb", "unknown"})
_KITTY_TERMS: Final = frozenset({"xterm-kitty", "xterm-ghostty"})
_KITTY_PROGRAMS: Final = frozenset({"ghostty", "kitty"})
_ITERM_PROGRAMS: Final = frozenset({"iTerm.app", "WezTerm", "mintty"})
_SIXEL_TERMS: Final = ("foot", "mlterm", "contour")
"""How the names of terminals begin that have always had sixels. Others may have them, and do not say so."""
_MULTIPLEXERS: Final = ("TMUX", "STY", "ZELLIJ")
"""Programs between us and the terminal that swallow pictures, or leave them where the text has moved on: there, and
wherever else nothing better is known, pictures are drawn in characters."""


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """One place to write to. As it comes it is no terminal: text only."""

    width: int = _USUAL_WIDTH
    styled: bool = False
    """Whether escape sequences are understood."""
    coloured: bool = False
    """Whether they may be colours."""
    pictures: Pictures = "none"
    column_pixels: float = _USUAL_COLUMN
    """How wide a column is."""

    @classmethod
    def of(cls, descriptor: int, environ: Mapping[str, str], *, pictures: Pictures | None = None) -> "Screen":
        """What a descriptor leads to. `pictures` is what the user knows better than the environment says it."""
        if not os.isatty(descriptor):
            return cls()
        width, column = _size(descriptor)
        styled = environ.get("TERM", "") not in _DUMB
        return cls(
            width=width,
            styled=styled,
            coloured=styled and not environ.get("NO_COLOR"),
            pictures=pictures or _pictures(environ, styled),
            column_pixels=column,
        )


def _pictures(environ: Mapping[str, str], styled: bool) -> Pictures:
    found = pictures_of(environ) if styled else "none"
    # Half blocks are made of colours alone.
    return "none" if found == "blocks" and environ.get("NO_COLOR") else found


def pictures_of(environ: Mapping[str, str]) -> Pictures:
    """The way to show pictures in the terminal that the environment names.

    VS Code may show them or not, and says neither, so it does not count as one that can.
    """
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term in _DUMB:
        return "none"
    if any(environ.get(name) for name in _MULTIPLEXERS) or term.startswith(("screen", "tmux")):
        return "blocks"
    if term in _KITTY_TERMS or program in _KITTY_PROGRAMS or environ.get("KITTY_WINDOW_ID"):
        return "kitty"
    # iTerm2 names itself in a variable that ssh hands on, too.
    if program in _ITERM_PROGRAMS or environ.get("LC_TERMINAL") == "iTerm2":
        return "iterm"
    return "sixel" if term.startswith(_SIXEL_TERMS) else "blocks"


def _size(descriptor: int) -> tuple[int, float]:
    """The columns of a terminal, and the pixels of each."""
    import fcntl
    import termios

    try:
        answer = fcntl.ioctl(descriptor, termios.TIOCGWINSZ, bytes(8))
    except OSError:
        return _USUAL_WIDTH, _USUAL_COLUMN
    _, columns, pixels, _ = struct.unpack("HHHH", answer)
    if not columns:
        return _USUAL_WIDTH, _USUAL_COLUMN
    return columns, pixels / columns or _USUAL_COLUMN
