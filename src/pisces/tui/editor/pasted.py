"""Text that comes from elsewhere, made fit for an editor."""

from typing import Final

from pisces.output.sanitize import clean

_LINE_ENDS: Final = str.maketrans({"\r": "\n", "\u2028": "\n", "\u2029": "\n"})

_DIRECTIONS: Final = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\u200b")
"""Characters that turn the direction of what follows, to a space without width: as wide, and without effect."""


def fit(text: str) -> str:
    """The text with newlines as the only line ends, and without what a terminal would obey: tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return clean(text).translate(_LINE_ENDS)


def in_order(line: str) -> str:
    """The line as it is shown: its characters in the order in which they stand, whatever it says."""
    return line if line.isascii() else line.translate(_DIRECTIONS)
