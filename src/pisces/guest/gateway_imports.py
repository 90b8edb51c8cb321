"""Importing the gateway without what it never uses: three quarters of the time that it takes to start.

Jupyter's packages name them as requirements, but treat them as optional where they are used: `jsonschema` checks the
formats for which it finds a checker, and nothing here has such a format. One of them takes a second to import, because
it builds a parser for all the characters that an address may have.
"""

from __future__ import annotations

import importlib
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHECKERS = ("rfc3987_syntax", "rfc3986_validator", "isoduration", "webcolors", "fqdn", "uri_template")
_SERVER = "jupyter_server.serverapp"


class _StandIn(types.ModuleType):
    """In the place of the application of Jupyter Server, of which the gateway uses one function, to find a port."""

    def random_ports(self, port: int, count: int) -> range:
        return range(port, port + count)

    def __getattr__(self, name: str) -> Any:
        """Whatever else is wanted of it, the real one has."""
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(_SERVER) is self:
            del sys.modules[_SERVER]
        return getattr(importlib.import_module(_SERVER), name)


def import_quickly(name: str) -> Any:
    """Import a module of the gateway; afterwards everything can be imported as ever."""
    stand_in = _StandIn(_SERVER)
    absent: list[str] = [checker for checker in _CHECKERS if checker not in sys.modules]
    placed: dict[str, Any] = dict.fromkeys(absent)  # None there means that there is no such module.
    if _SERVER not in sys.modules:
        placed[_SERVER] = stand_in
    sys.modules.update(placed)
    try:
        return importlib.import_module(name)
    finally:
        for placed_name, module in placed.items():
            if sys.modules.get(placed_name, stand_in) is module:
                del sys.modules[placed_name]
