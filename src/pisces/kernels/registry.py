"""The table of backends: a new one is a folder beside this file and a line here."""

from collections.abc import Callable
from importlib import import_module

from pisces.errors import KernelError
from pisces.kernels.base import Backend

_BACKENDS = {"native": "pisces.kernels.native.backend:NativeBackend"}
"""By name, where the class is; it is imported when it is first used."""


def make_backend(name: str, *, idle: float) -> Backend:
    """The backend of that name; `auto` is the one that fits where we run.

    What its kernels share is given up when there has been none for `idle` seconds.
    """
    place = _BACKENDS.get("native" if name == "auto" else name)
    if place is None:
        raise KernelError(f"There is no backend {name!r}", hint=f"Backends: {', '.join(_BACKENDS)}")
    module, _, attribute = place.partition(":")
    factory: Callable[..., Backend] = getattr(import_module(module), attribute)
    return factory(idle=idle)
