"""The tools: what an agent can call, each with a strict schema, a text that teaches it, and one shape of result.

Above are the runtime and the front ends, which know tools by name. Below are the sessions, the output line and the
environment. The names here are for programs that put the tools into an agent of their own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pisces.tools.agent_dispatch import Dispatcher as Dispatcher
    from pisces.tools.agent_schemas import schemas as schemas
    from pisces.tools.base import CallContext as CallContext

_WHERE = {
    "CallContext": "pisces.tools.base",
    "Dispatcher": "pisces.tools.agent_dispatch",
    "schemas": "pisces.tools.agent_schemas",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
