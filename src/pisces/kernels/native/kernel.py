"""One native kernel, as the contract wants it."""

import logging
from pathlib import Path

import anyio

from pisces.errors import DeadlineExceeded, KernelGone
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.channels import PIPES
from pisces.kernels.native.execution import NativeExecution
from pisces.kernels.native.frames import ReadyFrame, encode_request
from pisces.kernels.native.process import KernelProcess
from pisces.kernels.native.zygotes import ZygotePool

_startup = logging.getLogger("pisces.startup")

_EXIT_CAP = 1.0
"""How long a kernel that is asked to end may take over its atexit functions before it is killed."""


class NativeKernel:
    """A process of the user's interpreter that runs our guest."""

    backend = "native"

    def __init__(self, spec: LaunchSpec, zygotes: ZygotePool) -> None:
        self._spec = spec
        self._zygotes = zygotes
        self._process: KernelProcess | None = None
        self._execution: NativeExecution | None = None
        self._cells = 0
        self.shell = ""
        self.shell_note = ""

    @property
    def interpreter(self) -> str:
        """The path of the interpreter."""
        return self._spec.interpreter

    async def start(self, deadline: Deadline) -> None:
        """See `kernels.base.Kernel`."""
        try:
            with deadline.scope() as scope:
                await self._start(deadline)
            if scope.cancelled_caught:
                raise DeadlineExceeded(f"The kernel did not start within {deadline.seconds:g} seconds")
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.kill()
            raise

    async def _start(self, deadline: Deadline) -> None:
        zygote = await self._zygotes.get(self._spec, deadline)
        process = self._process = KernelProcess(zygote)
        process.spawn(self._folder(), {**self._spec.env, **self._spec.injected})
        while True:
            for frame in process.frames.feed(process.channels.read("frames")):
                if isinstance(frame, ReadyFrame):
                    self.shell, self.shell_note = frame.shell, frame.note
                    _startup.debug("kernel ready")
                    return
            if not process.alive:
                raise process.start_error()
            await process.channels.wait()

    def _folder(self) -> str:
        # The folder may have been removed since the session began; a kernel can live without it.
        return self._spec.cwd if Path(self._spec.cwd).is_dir() else "/"

    async def execute(self, request: ExecuteRequest) -> NativeExecution:
        """See `kernels.base.Kernel`."""
        process = self._process
        if process is None or not process.alive:
            raise KernelGone("The kernel has ended")
        await process.signals_arrived()
        self._cells += 1
        message = {
            "type": "execute",
            "id": self._cells,
            "code": request.code,
            "silent": request.silent,
            "store_history": request.store_history,
            "inspect": request.inspect,
        }
        if request.cwd is not None:
            message["cwd"] = request.cwd
        if request.env:
            message["env"] = dict(request.env)
        self._execution = NativeExecution(process, self._cells)
        try:
            process.channels.send(encode_request(message))
        except ConnectionError as error:
            raise KernelGone("The kernel has ended") from error
        return self._execution

    async def interrupt(self) -> None:
        """See `kernels.base.Kernel`."""
        if self._execution is not None and not self._execution.done:
            self._execution.interrupt()

    async def is_alive(self) -> bool:
        """See `kernels.base.Kernel`."""
        return self._process is not None and self._process.alive

    async def kill(self) -> None:
        """See `kernels.base.Kernel`."""
        process = self._process
        if process is None:
            return
        await process.end()
        if self._execution is None or self._execution.done:
            self._close()

    async def shutdown(self) -> None:
        """See `kernels.base.Kernel`."""
        process = self._process
        if process is not None and process.alive and (self._execution is None or self._execution.done):
            with anyio.move_on_after(_EXIT_CAP):
                await self._ask_to_exit(process)
        self._execution = None
        await self.kill()

    async def _ask_to_exit(self, process: KernelProcess) -> None:
        try:
            process.channels.send(encode_request({"type": "exit"}))
        except ConnectionError:
            return  # It has ended already.
        process.channels.active = True
        while process.alive:
            for pipe in PIPES:
                process.channels.read(pipe)  # A kernel that says much at its end must not hang on a full pipe.
            await process.channels.wait()

    def _close(self) -> None:
        if self._process is not None:
            self._process.channels.close()
            self._process = None
