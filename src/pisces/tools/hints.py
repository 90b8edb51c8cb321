"""What MCP clients are told of each tool besides its description."""

from collections.abc import Mapping
from typing import Any, Final

_AT_HAND: Final = {"anthropic/alwaysLoad": True}
"""Claude Code keeps tools back until its model searches for them. It is not to search for what it needs most."""
_CHANGES: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False}
"""A cell can do anything, and so can a notebook, a command, and a function of somebody else's."""
_HINTS: Final[Mapping[str, Mapping[str, bool]]] = {
    "read": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    "write": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
    "edit": {**_CHANGES, "openWorldHint": False},
    "session": {**_CHANGES, "openWorldHint": False},
}


def hints(tool: str) -> dict[str, bool]:
    """What it does at worst, in the protocol's words: a program may ask its user before it lets one run."""
    return dict(_HINTS.get(tool, _CHANGES))


def meta(tool: str) -> dict[str, Any]:
    """What single clients heed, by names of their own."""
    return dict(_AT_HAND) if tool == "python" else {}
