"""A scripted kernel: in this process, without threads, for tests and for programs that embed Pisces.

A script (`memory_script`) says for each cell what happens, step by step. Everything above sees a kernel like any other.
"""

import copy
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from anyio.lowlevel import checkpoint

from pisces.errors import DeadlineExceeded, KernelGone
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory_script import Handler, MemoryExecution, MemoryProcess, Script
from pisces.model.events import ProcessExit, Restore

OnStart = Callable[[], Awaitable[None]]


class MemoryKernel:
    """Fulfils `kernels.base.Kernel`; `requests` and `interrupts` tell what was asked of it."""

    backend = "memory"

    def __init__(self, spec: LaunchSpec, handler: Handler, on_start: OnStart = checkpoint) -> None:
        self.spec = spec
        self.interpreter = spec.interpreter
        self.requests: list[ExecuteRequest] = []
        self.interrupts = 0
        self._handler = handler
        self._on_start = on_start
        self._process: MemoryProcess | None = None
        self._execution: MemoryExecution | None = None

    @property
    def namespace(self) -> dict[str, Any]:
        """What the handler keeps from cell to cell; empty before the start."""
        return {} if self._process is None else self._process.namespace

    async def start(self, deadline: Deadline) -> None:
        with deadline.scope() as scope:
            await self._on_start()
        if scope.cancelled_caught:
            raise DeadlineExceeded(f"The kernel did not start within {deadline.seconds:g} seconds")
        self._process = MemoryProcess()

    async def execute(self, request: ExecuteRequest) -> MemoryExecution:
        if self._process is None or self._process.exit is not None:
            raise KernelGone("The kernel has ended")
        self.requests.append(request)
        self._execution = MemoryExecution(self._process, request, self._handler)
        return self._execution

    async def interrupt(self) -> None:
        self.interrupts += 1
        if self._execution is not None and not self._execution.done:
            self._execution.interrupt()

    async def is_alive(self) -> bool:
        return self._process is not None and self._process.exit is None

    async def kill(self) -> None:
        self.die(ProcessExit(signal=signal.SIGKILL))

    async def shutdown(self) -> None:
        self.die(ProcessExit(code=0))

    def die(self, how: ProcessExit) -> None:
        """End the process, in a cell or between two, as if it had ended by itself."""
        if self._process is not None and self._process.exit is None:
            self._process.exit = how
        if self._execution is not None:
            self._execution.wake()


class CheckpointingMemoryKernel(MemoryKernel):
    """One that comes back from its death with the namespace of before the cell; fulfils `Checkpointing` too."""

    outcome = Restore("exact")
    """How it comes back; names that are `missing` are not in the namespace then."""
    _saved: Mapping[str, Any] = {}

    async def execute(self, request: ExecuteRequest) -> MemoryExecution:
        self._saved = copy.deepcopy(self.namespace)
        return await super().execute(request)

    async def restore(self, deadline: Deadline) -> Restore | None:
        await self.kill()
        kept = {name: value for name, value in self._saved.items() if name not in self.outcome.missing}
        self._process = MemoryProcess(copy.deepcopy(kept))
        self._execution = None
        return self.outcome


class MemoryBackend:
    """Makes scripted kernels; `kernels` has all that it made, in order.

    `on_start` is awaited when a kernel starts: it may raise, or wait. With `restore`, kernels come back that way.
    """

    name = "memory"

    def __init__(self, script: Script, *, on_start: OnStart = checkpoint, restore: Restore | None = None) -> None:
        self._handler = script if callable(script) else _look_up_in(script)
        self._on_start = on_start
        self._restore = restore
        self.kernels: list[MemoryKernel] = []

    def kernel(self, spec: LaunchSpec) -> MemoryKernel:
        kernel = self._make(spec)
        self.kernels.append(kernel)
        return kernel

    def _make(self, spec: LaunchSpec) -> MemoryKernel:
        if self._restore is None:
            return MemoryKernel(spec, self._handler, self._on_start)
        kernel = CheckpointingMemoryKernel(spec, self._handler, self._on_start)
        kernel.outcome = self._restore
        return kernel

    async def aclose(self) -> None:
        for kernel in self.kernels:
            await kernel.shutdown()


def _look_up_in(script: Mapping[str, Any]) -> Handler:
    return lambda request, namespace: script[request.code]
