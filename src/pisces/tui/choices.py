"""What the person chose in the UI and finds again the next time: `ui.json` in the agent's folder.

It is no setting: nobody but the UI reads it, and a file that is damaged is as good as none.
"""

from pathlib import Path

import msgspec

from pisces.settings.paths import Paths, make_private
from pisces.settings.private_file import write_whole
from pisces.tui.options import Theme


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    theme: Theme = "dark"


def chosen(paths: Paths) -> Choices:
    """What was chosen last."""
    try:
        return msgspec.json.decode(_file(paths).read_bytes(), type=Choices)
    except (OSError, msgspec.DecodeError):
        return Choices()


def remember(paths: Paths, choices: Choices) -> str:
    """Keep it for the next time; what kept it from being kept, in a sentence."""
    file = _file(paths)
    try:
        make_private(file.parent)
        write_whole(file, msgspec.json.encode(choices))
    except OSError as error:
        return f"The choice will not be found the next time: {file}: {error.strerror or error}"
    return ""


def _file(paths: Paths) -> Path:
    return paths.agent / "ui.json"
