"""A scripted kernel: in this process, without threads, for tests and for programs that embed Pisces.

A script (`memory_script`) says for each cell what happens, step by step. Everything above sees a kernel like any other.
"""

import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from anyio import Event
from anyio.lowlevel import checkpoint

from pisces.errors import CheckpointError, DeadlineExceeded, KernelGone, KernelStartError
from pisces.kernels.base import Checkpoint, ExecuteRequest, KernelKind, LaunchSpec, Outlook, Revival
from pisces.kernels.completing import among
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory_script import Handler, MemoryExecution, MemoryProcess, Script, copied
from pisces.model.completion import Completion
from pisces.model.events import ProcessExit, Variable

OnStart = Callable[[], Awaitable[None]]


class MemoryKernel:
    """Fulfils `kernels.base.Kernel` and `Completing`; `requests` and `interrupts` tell what was asked of it."""

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
        process = self._living()
        self.requests.append(request)
        self._execution = MemoryExecution(process, request, self._handler)
        return self._execution

    async def interrupt(self) -> None:
        self.interrupts += 1
        if self._execution is not None and not self._execution.done:
            self._execution.interrupt()

    async def complete(self, code: str, cursor: int, deadline: Deadline) -> Completion:
        return among(self._living().namespace, code, cursor)

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

    def _living(self) -> MemoryProcess:
        if self._process is None or self._process.exit is not None:
            raise KernelGone("The kernel has ended")
        return self._process


class MemoryCheckpoint:
    """A copy of a namespace, until it is dropped. A `broken` one is found out only when it is to be woken.

    One that has a `delay` is there when that is set; its kernel must live until then.
    """

    def __init__(self, namespace: Mapping[str, Any], count: int, blocked_ms: float | None) -> None:
        self.namespace = namespace
        self.count = count
        self.blocked_ms = blocked_ms
        self.usable = True
        self.died = False
        self.by_value = False
        self.broken = False
        self.delay: Event | None = None

    async def settled(self, deadline: Deadline) -> None:
        """Wait until it is there."""
        if self.delay is not None:
            with deadline.scope() as scope:
                await self.delay.wait()
            if scope.cancelled_caught:
                raise DeadlineExceeded("The checkpoint was not there in time")
            self.delay = None
        if not self.usable:
            raise CheckpointError("The checkpoint could not be made")

    def drop(self) -> None:
        self.usable = self.died = False

    def die(self) -> None:
        """End by itself, as a process does that somebody kills."""
        self.usable, self.died = False, True

    def wake(self, missing: tuple[str, ...]) -> MemoryProcess:
        """A process that goes on from here, without the names that are missing."""
        if self.broken or not self.usable:
            raise KernelStartError("The checkpoint did not wake")
        kept = {name: value for name, value in self.namespace.items() if name not in missing}
        return MemoryProcess(copied(kept), self.count)


class CheckpointingMemoryKernel(MemoryKernel):
    """One that keeps its state, and lists it; fulfils `Checkpointing` and `Inspecting` too.

    A test sets what a checkpoint means (`prospect`, `blocked_ms`), how it comes back (`revival`; names that are
    `missing` are not in the namespace then), until when checkpoints take (`delay`), and why there can be none
    (`refusal`). `checkpoints` has all.
    """

    def __init__(
        self, spec: LaunchSpec, handler: Handler, on_start: OnStart = checkpoint, *, revival: Revival | None = None
    ) -> None:
        super().__init__(spec, handler, on_start)
        self.revival = revival or Revival("exact")
        self.prospect = Outlook()
        self.blocked_ms: float | None = 0.0
        self.refusal = ""
        self.delay: Event | None = None
        self.checkpoints: list[MemoryCheckpoint] = []
        self.family: list[MemoryKernel] = []
        """Where branches are told of: the kernels of the backend."""

    def outlook(self) -> Outlook:
        return self.prospect

    async def checkpoint(self, *, wanted: bool = False) -> MemoryCheckpoint:
        process = self._living()
        if self.refusal:
            raise CheckpointError(f"There can be no checkpoint: {self.refusal}")
        try:
            namespace = copied(process.namespace)
        except Exception as error:  # the values are a user's, and copying one may raise anything
            raise CheckpointError(f"There can be no checkpoint: a value cannot be copied ({error})") from error
        made = MemoryCheckpoint(namespace, process.count, self.blocked_ms)
        made.delay = self.delay
        made.by_value = self.revival.how == "by_value"
        self.checkpoints.append(made)
        return made

    async def restore(self, checkpoint: Checkpoint, deadline: Deadline) -> Revival:
        assert isinstance(checkpoint, MemoryCheckpoint)
        if checkpoint.delay is not None and not await self.is_alive():
            checkpoint.drop()  # It was still being made.
        process = checkpoint.wake(self.revival.missing)
        await self.kill()
        self._process, self._execution = process, None
        return self.revival

    async def branch(
        self, checkpoint: Checkpoint, spec: LaunchSpec, deadline: Deadline
    ) -> "tuple[CheckpointingMemoryKernel, Revival]":
        assert isinstance(checkpoint, MemoryCheckpoint)
        branch = CheckpointingMemoryKernel(spec, self._handler, self._on_start, revival=self.revival)
        branch._process = checkpoint.wake(self.revival.missing)
        branch.family = self.family
        self.family.append(branch)
        return branch, self.revival

    async def variables(self, deadline: Deadline) -> tuple[Variable, ...]:
        namespace = self._living().namespace
        return tuple(_described(name, namespace[name]) for name in sorted(namespace) if not name.startswith("_"))


class MemoryBackend:
    """Makes scripted kernels; `kernels` has all that it made, in order, and the branches of those.

    `on_start` is awaited when a kernel starts: it may raise, or wait. With `revival`, kernels keep checkpoints and
    come back from them that way.
    """

    name = "memory"
    kind: KernelKind = "native"

    def __init__(self, script: Script, *, on_start: OnStart = checkpoint, revival: Revival | None = None) -> None:
        self._handler = script if callable(script) else _look_up_in(script)
        self._on_start = on_start
        self._revival = revival
        self.kernels: list[MemoryKernel] = []

    def kernel(self, spec: LaunchSpec) -> MemoryKernel:
        kernel = self._make(spec)
        self.kernels.append(kernel)
        return kernel

    def _make(self, spec: LaunchSpec) -> MemoryKernel:
        if self._revival is None:
            return MemoryKernel(spec, self._handler, self._on_start)
        kernel = CheckpointingMemoryKernel(spec, self._handler, self._on_start, revival=self._revival)
        kernel.family = self.kernels
        return kernel

    async def aclose(self) -> None:
        for kernel in self.kernels:
            await kernel.shutdown()


def _look_up_in(script: Mapping[str, Any]) -> Handler:
    return lambda request, namespace: script[request.code]


def _described(name: str, value: object) -> Variable:
    size = str(len(value)) if hasattr(value, "__len__") and not isinstance(value, type) else ""
    return Variable(name, type(value).__name__, size)
