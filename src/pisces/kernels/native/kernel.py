"""One native kernel, as the contract wants it."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio

from pisces.errors import CheckpointError, DeadlineExceeded, KernelGone, KernelStartError
from pisces.kernels.base import Checkpoint, ExecuteRequest, LaunchSpec, Outlook, Revival
from pisces.kernels.completing import Question
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.channels import PIPES, anonymous_file
from pisces.kernels.native.checkpoint import NativeCheckpoint
from pisces.kernels.native.execution import NativeExecution
from pisces.kernels.native.frames import (
    CompletedFrame,
    ControlFrame,
    LoadedFrame,
    ReadyFrame,
    VariablesFrame,
    encode_request,
)
from pisces.kernels.native.process import KernelProcess
from pisces.kernels.native.sleepers import Asleep
from pisces.kernels.native.zygote import NO_DESCRIPTORS, Zygote
from pisces.kernels.native.zygotes import ZygotePool
from pisces.model.completion import Completion
from pisces.model.events import ProcessExit, Variable

_Frame = TypeVar("_Frame", bound=ControlFrame)

_startup = logging.getLogger("pisces.startup")

_EXIT_CAP = 1.0
"""How long a kernel that is asked to end may take over its atexit functions before it is killed."""
_WAKE_CAP = 5.0
"""A process that wakes takes milliseconds; code of the user's runs meanwhile, at the fork, and may hang."""
_SAVE_SECONDS = 20.0
"""How long a checkpoint that cannot go on may take to write down its variables."""
_SAVE_SHARE = 0.75
"""At most so much of the time: what was written by then is loaded in the rest."""


class NativeKernel:
    """A process of the user's interpreter that runs our guest."""

    backend = "native"
    has_guest = True

    def __init__(self, spec: LaunchSpec, zygotes: ZygotePool) -> None:
        self._spec = spec
        self._zygotes = zygotes
        self._process: KernelProcess | None = None
        self._execution: NativeExecution | None = None
        self._cells = 0
        self._told: set[str] = set()
        self.shell = ""
        self.shell_note = ""

    @property
    def interpreter(self) -> str:
        """The path of the interpreter."""
        return self._spec.interpreter

    async def start(self, deadline: Deadline) -> None:
        """See `kernels.base.Kernel`."""
        with deadline.scope():
            self._process = await self._start_process(deadline)
            return
        raise DeadlineExceeded(f"The kernel did not start within {deadline.seconds:g} seconds")

    async def _start_process(self, deadline: Deadline) -> KernelProcess:
        """A fresh process that is ready. If this fails or is cancelled, nothing is left of it."""
        zygote = await self._zygotes.get(self._spec, deadline)
        try:
            return await self._start_below(zygote, deadline)
        except KernelStartError:
            if zygote.alive:
                raise
            # It was ending itself, having been idle for long, just when it was asked.
            return await self._start_below(await self._zygotes.get(self._spec, deadline), deadline)

    async def _start_below(self, zygote: Zygote, deadline: Deadline) -> KernelProcess:
        process = KernelProcess(zygote, self._told)
        async with _ended_on_failure(process):
            await process.start(self._spec, self._folder(), deadline)
            await self._become_ready(process)
        process.notes += zygote.take_warnings()
        return process

    async def _become_ready(self, process: KernelProcess) -> ReadyFrame:
        ready = await self._next(ReadyFrame, process)
        self.shell, self.shell_note = ready.shell, ready.note
        _startup.debug("kernel ready")
        return ready

    async def _next(self, kind: type[_Frame], process: KernelProcess) -> _Frame:
        """The next frame of that kind, between cells; others are kept for the next cell."""
        waiting = process.waiting_frames
        while True:
            waiting += process.frames.feed(process.channels.read("frames"))
            for frame in waiting:
                if isinstance(frame, kind):
                    waiting.remove(frame)
                    return frame
            if not process.alive:
                raise process.start_error()
            await process.channels.wait()

    def _folder(self) -> str:
        # The folder may have been removed since the session began; a kernel can live without it.
        return self._spec.cwd if Path(self._spec.cwd).is_dir() else "/"

    async def execute(self, request: ExecuteRequest) -> NativeExecution:
        """See `kernels.base.Kernel`."""
        process = self._living()
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
            await process.end()  # How it ended may not have been heard yet.
            raise KernelGone("The kernel has ended") from error
        return self._execution

    async def interrupt(self) -> None:
        """See `kernels.base.Kernel`."""
        if self._execution is not None and not self._execution.done:
            self._execution.interrupt()

    def outlook(self) -> Outlook:
        """See `kernels.base.Checkpointing`."""
        process = self._process
        if process is None or not process.alive:
            return Outlook(obstacle="the kernel has ended")
        if not process.can_sleep:
            return Outlook(obstacle="this system cannot keep sleeping copies of a process")
        return Outlook(obstacle=process.obstacle, resident_mb=process.resident_mb(), faults=process.faults)

    async def checkpoint(self, *, wanted: bool = False) -> NativeCheckpoint:
        """See `kernels.base.Checkpointing`."""
        process = self._living()
        if not process.can_sleep:
            raise CheckpointError("The state cannot be kept: this system cannot keep sleeping copies of a process")
        try:
            return process.checkpoint(wanted=wanted)
        except ConnectionError as error:
            raise KernelGone("The kernel has ended") from error
        except KernelStartError as error:
            raise CheckpointError(str(error), hint=error.hint) from error

    async def restore(self, checkpoint: Checkpoint, deadline: Deadline) -> Revival:
        """See `kernels.base.Checkpointing`."""
        process, revival = await self._wake(checkpoint, deadline)
        old, self._process, self._execution = self._process, process, None
        if old is not None:
            process.notes += old.notes
            await _end(old)
        return revival

    async def branch(
        self, checkpoint: Checkpoint, spec: LaunchSpec, deadline: Deadline
    ) -> "tuple[NativeKernel, Revival]":
        """See `kernels.base.Checkpointing`."""
        kernel = NativeKernel(spec, self._zygotes)
        kernel._process, revival = await kernel._wake(checkpoint, deadline)
        return kernel, revival

    async def _wake(self, checkpoint: Checkpoint, deadline: Deadline) -> tuple[KernelProcess, Revival]:
        """A process that goes on from the checkpoint and is ready. If this fails or is cancelled, it is ended."""
        assert isinstance(checkpoint, NativeCheckpoint)
        with deadline.scope():
            if not checkpoint.usable:
                raise KernelStartError("The checkpoint has been dropped, or has ended", hint="")
            asleep = await checkpoint.sleeper.asleep(deadline)
            if asleep.by_value:
                return await self._wake_by_value(checkpoint, asleep, deadline)
            with deadline.scope(_WAKE_CAP):
                process = KernelProcess(checkpoint.zygote, self._told)
                async with _ended_on_failure(process):
                    await process.go_on_from(checkpoint.sleeper, self._spec, deadline)
                    ready = await self._become_ready(process)
                return process, Revival("exact", ready.missing)
            raise DeadlineExceeded("The checkpoint did not wake in time")
        raise DeadlineExceeded(f"The checkpoint did not wake within {deadline.seconds:g} seconds")

    async def _wake_by_value(
        self, checkpoint: NativeCheckpoint, asleep: Asleep, deadline: Deadline
    ) -> tuple[KernelProcess, Revival]:
        """A fresh kernel gets the variables, because a library's threads cannot come back in a copy."""
        try:
            values = anonymous_file("pisces-values")
            try:
                seconds = deadline.remaining() * _SAVE_SHARE
                await checkpoint.sleeper.save(values, deadline, seconds=min(_SAVE_SECONDS, seconds))
                os.lseek(values, 0, os.SEEK_SET)
                process = await self._start_process(deadline)
                async with _ended_on_failure(process):
                    request = {"type": "load", "execution_count": asleep.execution_count}
                    process.channels.send_with_descriptor(encode_request(request), values)
                    loaded = await self._next(LoadedFrame, process)
                    if loaded.problem:
                        reason = f"The variables of the checkpoint could not be had: {loaded.problem}"
                        raise KernelStartError(reason, hint="")
            finally:
                os.close(values)
        except OSError as error:
            reason = f"The variables of the checkpoint could not be handed on: {error.strerror or error}"
            raise KernelStartError(reason, hint=NO_DESCRIPTORS) from error
        missing = (*asleep.threads, *asleep.children, *loaded.missing)
        return process, Revival("by_value", missing, asleep.by_value)

    async def variables(self, deadline: Deadline) -> tuple[Variable, ...]:
        """See `kernels.base.Inspecting`."""
        process = self._living()
        try:
            with deadline.scope():
                process.channels.send(encode_request({"type": "variables"}))
                process.lists_under_way += 1
                while True:
                    listed = await self._next(VariablesFrame, process)
                    process.lists_under_way -= 1
                    if process.lists_under_way <= 0:  # Else it is one that was asked for before, and came too late.
                        return listed.variables
        except (ConnectionError, KernelStartError) as error:
            await process.end()  # How it ended may not have been heard yet.
            raise KernelGone("The kernel has ended") from error
        raise DeadlineExceeded("The kernel did not list its variables in time")

    async def complete(self, code: str, cursor: int, deadline: Deadline) -> Completion:
        """See `kernels.base.Completing`."""
        process, question = self._living(), Question.about(code, cursor)
        request = {"type": "complete", "code": question.code, "cursor": question.cursor}
        try:
            with deadline.scope():
                while process.completions_under_way:  # Somebody asked before, and did not wait.
                    await self._completed(process)
                process.channels.send(encode_request(request))
                process.completions_under_way += 1
                told = await self._completed(process)
                return question.answer(told.matches, told.start, told.end)
        except (ConnectionError, KernelStartError) as error:
            await process.end()  # How it ended may not have been heard yet.
            raise KernelGone("The kernel has ended") from error
        return Completion()

    async def _completed(self, process: KernelProcess) -> CompletedFrame:
        told = await self._next(CompletedFrame, process)
        process.completions_under_way -= 1
        return told

    def _living(self) -> KernelProcess:
        if self._process is None or not self._process.alive:
            raise KernelGone("The kernel has ended")
        return self._process

    async def is_alive(self) -> bool:
        """See `kernels.base.Kernel`."""
        return self._process is not None and self._process.alive

    @property
    def ended(self) -> ProcessExit | None:
        """See `kernels.base.Mortal`."""
        return None if self._process is None else self._process.exit

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


@asynccontextmanager
async def _ended_on_failure(process: KernelProcess) -> AsyncIterator[None]:
    """End the process if what is done with it fails or is cancelled."""
    try:
        yield
    except BaseException:
        await _end(process)
        raise


async def _end(process: KernelProcess) -> None:
    """End the process and close what leads to it, whatever happens to the call meanwhile."""
    with anyio.CancelScope(shield=True):
        await process.end()
        process.channels.close()
