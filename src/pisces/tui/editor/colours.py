"""The colours of code that is being written: those of the app's theme, so that it can be read in the light, too."""

from typing import Final

from rich.style import Style
from textual.color import Color
from textual.theme import Theme
from textual.widgets.text_area import TextAreaTheme

NAME: Final = "pisces"

_PRIMARY: Final = (
    "keyword",
    "keyword.function",
    "keyword.return",
    "keyword.operator",
    "conditional",
    "repeat",
    "exception",
    "include",
)
_SECONDARY: Final = ("string", "string.escape")
_ACCENT: Final = ("number", "float", "boolean", "constant.builtin", "attribute", "preproc")
_BOLD: Final = ("function", "method", "type.class", "type.definition")
_COMMENT: Final = {True: "#98a5b3", False: "#57606a"}


def syntax_theme(theme: Theme) -> TextAreaTheme:
    """What a field of code looks like in a theme of the app; all but the colours of code comes from its styles."""
    styles = {name: Style(bold=True) for name in _BOLD}
    for colour, names in ((theme.primary, _PRIMARY), (theme.secondary, _SECONDARY), (theme.accent, _ACCENT)):
        if colour is not None:
            styles |= dict.fromkeys(names, Style(color=Color.parse(colour).rich_color))
    styles["comment"] = Style(color=_COMMENT[theme.dark], italic=True)
    return TextAreaTheme(name=NAME, syntax_styles=styles)
