"""The ZMQ backend: what `registry` hands to the sessions."""

from pisces.kernels.base import KernelKind, LaunchSpec
from pisces.kernels.jupyter.kernel import JupyterKernel
from pisces.kernels.native.descriptors import allow_many
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

    async def aclose(self) -> None:
        """Nothing is left when the kernels have been shut down."""
