"""The ZMQ backend: what `registry` hands to the sessions."""

from pisces.kernels.base import KernelKind, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.kernel import JupyterKernel
from pisces.kernels.jupyter.packages import missing_packages
from pisces.kernels.native.descriptors import allow_many
from pisces.kernels.zmq.command import not_installed
from pisces.kernels.zmq.transport import ZmqTransport


class ZmqBackend:
    """Makes Jupyter kernels that are processes of our own; they share nothing."""

    name = "zmq"
    kind: KernelKind = "jupyter"

    def __init__(self, *, idle: float = 300.0) -> None:
        """There is nothing that could be idle: each kernel ends by itself."""
        allow_many()

    def kernel(self, spec: LaunchSpec) -> JupyterKernel:
        """A kernel that has not been started yet."""
        return JupyterKernel(ZmqTransport(spec), spec, backend=self.name)

    async def check(self, spec: LaunchSpec, deadline: Deadline) -> None:
        """See `kernels.base.Checking`."""
        if await missing_packages(spec, ["ipykernel"], deadline):
            raise not_installed(spec.interpreter)

    async def aclose(self) -> None:
        """Nothing is left when the kernels have been shut down."""
