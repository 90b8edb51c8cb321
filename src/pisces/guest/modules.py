"""Extension modules: files of the user's whose names are in the namespace of every kernel, beside the prelude's.

The host sends each as text, and asks for one after the other, as cells that nobody sees. Functions that a module tags
with `helper` are in the documentation that the host has of this kernel.
"""

from __future__ import annotations

import sys
from types import ModuleType

from .prelude import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .given_names import GivenNames

TOOLKIT = "pisces_prelude"
"""What a module imports `helper` and `tell` from."""

_kernel: list[tuple[dict[str, Any], GivenNames, Callable[[], None]]] = []


def expect(namespace: dict[str, Any], given: GivenNames, settled: Callable[[], None]) -> None:
    """Modules are loaded into this namespace; `settled` is called when all of them have been."""
    _kernel[:] = [(namespace, given, settled)]
    toolkit = ModuleType(TOOLKIT, "What an extension module of Pisces is made with.")
    toolkit.helper = status.helper  # type: ignore[attr-defined]  # A module is filled so.
    toolkit.tell = status.tell  # type: ignore[attr-defined]
    sys.modules[TOOLKIT] = toolkit


def load(path: str, source: str) -> None:
    """Run a module in the namespace. Raises what it raises."""
    import linecache

    namespace, _, _ = _kernel[0]
    lines = source.splitlines(keepends=True)
    linecache.cache[path] = (len(source), None, lines, path)
    before = namespace.get("__file__")
    namespace["__file__"] = path
    try:
        exec(compile(source, path, "exec", 0, True), namespace)
    finally:
        if before is None:
            namespace.pop("__file__", None)
        else:
            namespace["__file__"] = before


def settle() -> None:
    """All modules have run: what they bound was there before the user's first cell."""
    _, given, settled = _kernel[0]
    given.take_over()
    settled()


def documentation() -> list[dict[str, str]]:
    """Every helper, those of modules too: its `name`, `category`, `signature` and `doc`."""
    namespace, given, _ = _kernel[0]
    return [
        _described(name, namespace[name])
        for name in given.values
        if name in namespace and isinstance(getattr(namespace[name], "category", None), str)
    ]


def _described(name: str, value: Any) -> dict[str, str]:
    import inspect

    try:
        signature = str(inspect.signature(value)) if callable(value) else ""
    except (TypeError, ValueError):
        signature = ""
    return {
        "name": name,
        "category": value.category,
        "signature": signature,
        "doc": inspect.getdoc(value) or "",
    }
