"""Pisces gives a coding agent, and the person beside it, a Python that remembers.

The public names are resolved when they are first used, so that `import pisces` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pisces._version import __version__ as __version__
    from pisces.errors import InvalidCall as InvalidCall
    from pisces.errors import PiscesError as PiscesError
    from pisces.model.cells import Cell as Cell
    from pisces.model.cells import CellRecord as CellRecord
    from pisces.model.results import Details as Details
    from pisces.model.results import ToolResult as ToolResult
    from pisces.model.results import Update as Update
    from pisces.runtime import Runtime as Runtime
    from pisces.runtime import run as run
    from pisces.settings.schema import Settings as Settings

_WHERE = {
    "Cell": "pisces.model.cells",
    "CellRecord": "pisces.model.cells",
    "Details": "pisces.model.results",
    "InvalidCall": "pisces.errors",
    "PiscesError": "pisces.errors",
    "Runtime": "pisces.runtime",
    "Settings": "pisces.settings.schema",
    "ToolResult": "pisces.model.results",
    "Update": "pisces.model.results",
    "__version__": "pisces._version",
    "run": "pisces.runtime",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
