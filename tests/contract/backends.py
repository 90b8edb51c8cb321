"""The backends that the suite runs against, and the cases that cannot apply to one of them.

A new backend is a line in `BACKENDS`; a case that it cannot have is a line in `CANNOT`, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pisces.kernels.base import Backend, Revival
from pisces.kernels.gateway.external import ExternalBackend
from pisces.kernels.gateway.local import LocalBackend
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.native.backend import NativeBackend
from pisces.kernels.zmq.backend import ZmqBackend
from pisces.settings.paths import Paths
from tests.fakes.servers import Server
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


def external(server: Server) -> Backend:
    """The backend of a gateway that somebody else runs."""
    return ExternalBackend(server.url, server.token)


def local(paths: Paths) -> Backend:
    """The backend of the gateway that is shared below these paths."""
    return LocalBackend(paths=paths)


BACKENDS: dict[str, Tested] = {
    "memory": Tested(lambda: MemoryBackend(tiny_python, revival=Revival("exact"))),
    "native-ipython": Tested(NativeBackend, "ipython_python"),
    "native-builtin": Tested(NativeBackend, "plain_python"),
    "zmq": Tested(ZmqBackend, "jupyter_python", kinds=("jupyter",)),
    "gateway-local": Tested(local, "jupyter_python", "local_paths", kinds=("jupyter", "local")),
    "gateway-kernel-gateway": Tested(external, "jupyter_python", "kernel_gateway", kinds=("jupyter", "external")),
    "gateway-jupyter-server": Tested(external, "jupyter_python", "jupyter_server", kinds=("jupyter", "external")),
    "gateway-enterprise": Tested(external, "enterprise_python", "enterprise_gateway", kinds=("jupyter", "external")),
}

CANNOT: dict[tuple[str, str], str] = {
    ("memory", "needs_process"): "the scripted kernel has no process of its own",
    ("memory", "needs_shell"): "the scripted kernel has no shell: what a cell shows is what its script says",
    ("jupyter", "needs_checkpoints"): "a Jupyter kernel has threads and sockets that no copy of it could go on with",
    ("jupyter", "needs_idle_loop"): "ipykernel runs cells inside its event loop, which nothing in them can run",
    ("jupyter", "needs_own_shell"): "ipykernel itself does not go on without its module and its streams",
    ("jupyter", "needs_second_interrupt"): "ipykernel cancels the task again; one that swallows that has to be killed",
    (
        "jupyter",
        "needs_last_words",
    ): "ipykernel hands text to ZMQ, which sends it a moment later: a kill can be quicker",
    ("jupyter", "needs_forgiving_display"): "ipykernel takes a cell whose value cannot be shown for failed",
    ("external", "needs_exit_status"): "a gateway tells that a kernel has ended, not how",
    ("external", "needs_own_interpreter"): "which interpreter runs is the affair of whoever runs the gateway",
    ("external", "needs_no_rate_limit"): "a gateway as it comes drops output of more than a megabyte per second",
}
"""By backend, or kind of backend, and marker: why the cases with that marker cannot apply to it."""

MARKERS = {
    "needs_process": "the case is about a process of the operating system",
    "needs_shell": "the case is about what Python and IPython do with code",
    "needs_checkpoints": "the case is about a kernel that keeps its state",
    "needs_idle_loop": "the case is about a loop that does not run while a cell does not await",
    "needs_own_shell": "the case is about what a cell can take away from its own kernel",
    "needs_second_interrupt": "the case is about code that only a second interrupt can stop",
    "needs_forgiving_display": "the case is about a value that cannot be shown, in a cell that is fine otherwise",
    "needs_last_words": "the case is about what was written in the moment before the end",
    "needs_exit_status": "the case is about how a process ended",
    "needs_no_rate_limit": "the case is about more output than a server as it comes lets through",
    "needs_own_interpreter": "the case is about an interpreter that we choose",
}
