"""The two themes: few colours, and text that can be read on all of them."""

from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="pisces-dark",
    dark=True,
    primary="#6cb6ff",
    secondary="#8ddb8c",
    accent="#dcbdfb",
    foreground="#d9e0e8",
    background="#12161b",
    surface="#1a2027",
    panel="#232b34",
    success="#8ddb8c",
    warning="#f0c060",
    error="#ff938a",
)
LIGHT: Final = Theme(
    name="pisces-light",
    dark=False,
    primary="#0a56a8",
    secondary="#116329",
    accent="#6e3fb0",
    foreground="#1c2128",
    background="#ffffff",
    surface="#f4f6f8",
    panel="#e6eaee",
    success="#116329",
    warning="#7a4a00",
    error="#b3141d",
)
THEMES: Final = {"dark": DARK, "light": LIGHT}
