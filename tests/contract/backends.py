"""The backends that the suite runs against, and the cases that cannot apply to one of them.

A new backend is a line in `BACKENDS`; a case that it cannot have is a line in `CANNOT`, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pisces.kernels.base import Backend, Revival
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.native.backend import NativeBackend
from tests.fakes.tiny_python import tiny_python


@dataclass(frozen=True)
class Tested:
    """One backend of the suite."""

    make: Callable[..., Backend]
    interpreter: str = ""
    """The fixture that knows the interpreter of its kernels."""
    server: str = ""
    """The fixture of what `make` is handed; none if it needs nothing."""
    kinds: tuple[str, ...] = ()
    """What it is an example of, for `CANNOT`."""


BACKENDS: dict[str, Tested] = {
    "memory": Tested(lambda: MemoryBackend(tiny_python, revival=Revival("exact"))),
    "native-ipython": Tested(NativeBackend, "ipython_python"),
    "native-builtin": Tested(NativeBackend, "plain_python"),
}

NO_PROCESS = "the scripted kernel has no process of its own"
NO_SHELL = "the scripted kernel has no shell: what a cell shows is what its script says"

CANNOT: dict[tuple[str, str], str] = {
    ("memory", "needs_process"): NO_PROCESS,
    ("memory", "needs_shell"): NO_SHELL,
}
"""By backend, or kind of backend, and marker: why the cases with that marker cannot apply to it."""

MARKERS = {
    "needs_process": "the case is about a process of the operating system",
    "needs_shell": "the case is about what Python and IPython do with code",
    "needs_checkpoints": "the case is about a kernel that keeps its state",
    "needs_exit_status": "the case is about how a process ended",
}
