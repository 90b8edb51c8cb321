"""The colours of what we say ourselves: those of the terminal's own palette, which its user has chosen."""

from typing import Final

from rich.style import Style

DIM: Final = Style(dim=True)
BOLD: Final = Style(bold=True)
GOOD: Final = Style(color="green")
BAD: Final = Style(color="red")
BAD_BOLD: Final = Style(color="red", bold=True)
BUSY: Final = Style(color="cyan")
WARNING: Final = Style(color="yellow")
PLACE: Final = Style(color="blue")
PROMPT: Final = Style(color="blue", bold=True)
WAITING: Final = Style(dim=True)

BY_STATUS: Final = {"pending": WAITING, "running": BUSY, "complete": GOOD, "error": BAD}
