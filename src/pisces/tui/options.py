"""What the command line was told about the UI."""

from typing import Literal

import msgspec

Theme = Literal["dark", "light"]


class UiOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to begin."""

    cwd: str
    """The folder that counts: its settings, its interpreter, its session."""
    session: str | None = None
    """The session to begin with; None for that of the folder."""
    notebook: str | None = None
    """A notebook to open."""
    theme: Theme | None = None
    """None for the one that was chosen last, which is dark at first."""
    settings: dict[str, object] = {}
    """What options set, by dotted name."""
