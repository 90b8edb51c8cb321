"""A picture as large as the screen: as it is where the terminal can show that, otherwise with half blocks."""

import sys
from collections.abc import Mapping
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Footer, Static

from pisces.output.images import BrokenImage
from pisces.render.blocks import Image
from pisces.render.half_blocks import half_blocks, opened
from pisces.render.rows import Rows

_SHOWS_PICTURES: Final = ("KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID")
_TERMS: Final = ("xterm-kitty", "foot", "mlterm", "contour", "xterm-ghostty", "wezterm")
_SMALL: Final = 64
"""Pixels that a picture has at least on each side if it is given to the library, which does not survive it when one
becomes less than half a row high."""
_FLAT: Final = 20
"""How many times as long as the other a side may be, for the same reason."""


def get_ready(environ: Mapping[str, str]) -> None:
    """Ask the terminal what it can do, if it is of a kind that can do something.

    The library asks when it is first imported. That has to be before the app reads keys: it would get the answer.
    """
    term = environ.get("TERM", "")
    of_a_kind = any(name in environ for name in _SHOWS_PICTURES) or term.startswith(_TERMS)
    if of_a_kind and "TMUX" not in environ and sys.__stdin__ is not None and sys.__stdin__.isatty():
        import textual_image.widget  # noqa: F401 - see above


class PictureScreen(ModalScreen[None]):
    """One picture."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i", "app.pop_screen", "Back", key_display="Esc", priority=True),
        Binding("ctrl+c", "app.pop_screen", show=False, priority=True),
    ]

    def __init__(self, image: Image) -> None:
        super().__init__()
        self._image = image

    def compose(self) -> ComposeResult:
        with Center(id="picture"):
            yield self._shown()
        yield Footer()

    def _shown(self) -> Widget:
        image, known = self._image, sys.modules.get("textual_image.widget")
        sides = sorted((image.width, image.height))
        if known is None or sides[0] < _SMALL or sides[1] > _FLAT * sides[0]:
            return _HalfBlocks(image)
        try:
            shown: Widget = known.Image(opened(image, lambda width, height: (width, height)))
        except BrokenImage as error:
            return Static(_why_not(image, error))
        return shown


class _HalfBlocks(Static):
    DEFAULT_CSS = """
    _HalfBlocks {
        width: 100%;
        height: 100%;
    }
    """

    def __init__(self, image: Image) -> None:
        super().__init__()
        self._image = image

    def on_resize(self) -> None:
        if self.app.no_color:  # Half blocks are made of colours alone.
            self.update(Content(self._image.name))
            return
        try:
            rows = half_blocks(self._image, self.size.width, self.size.height, dark=self.app.current_theme.dark)
        except BrokenImage as error:
            self.update(_why_not(self._image, error))
        else:
            self.update(Rows(rows))


def _why_not(image: Image, error: BrokenImage) -> Content:
    """What stands in the place of a picture. It is no markup: the name of a picture is in brackets."""
    return Content(f"{image.name} cannot be shown: {error}")
