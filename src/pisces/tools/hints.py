"""What each tool does at worst, in the protocol's words: a program may ask its user before it lets one run."""

from collections.abc import Mapping
from typing import Final

_CHANGES: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False}
"""A cell can do anything, and so can a notebook, a command, and a function of somebody else's."""
_HINTS: Final[Mapping[str, Mapping[str, bool]]] = {
    "read": {"readOnlyHint": True, "openWorldHint": False},
    "write": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
    "edit": {**_CHANGES, "openWorldHint": False},
    "session": {**_CHANGES, "openWorldHint": False},
}


def hints(tool: str) -> dict[str, bool]:
    """The annotations of a tool."""
    return dict(_HINTS.get(tool, _CHANGES))
