"""One cell under way on a native kernel: frames and text in, events out, in order, `Done` last."""

import asyncio
import math
import time
from collections.abc import Container, Sequence

import msgspec

from pisces.kernels.native import frames
from pisces.kernels.native.channels import PIPES
from pisces.kernels.native.order import STREAMS
from pisces.kernels.native.process import KernelProcess
from pisces.kernels.native.zygote import GUEST
from pisces.model.events import (
    AnyEvent,
    ClearOutput,
    Display,
    Done,
    Error,
    InputRequested,
    Result,
    Started,
    Status,
    Stream,
    StreamName,
)

_SHELL_FILES = (str(GUEST), "/IPython/core/interactiveshell.py")
_HUNG_UP = "It had closed its channel: another program took its place, or its descriptors were closed."
_HANG_UP_AFTER = 0.5
_BEGIN_POLL = 0.005
_CLEAR_CAP = 3.0
"""How long output of a dead kernel's children is waited for, once the kernel itself has ended."""


class NativeExecution:
    """Pulls: nothing is read that nobody asked for, so a kernel that floods waits, and the host does not grow."""

    def __init__(self, process: KernelProcess, cell: int) -> None:
        self._process = process
        self._cell = cell
        self._malformed_before = process.frames.malformed
        self._foreign = 0
        self._dead_since = math.inf
        self._announced = False
        self._hang_up_planned = False
        self._read_ahead = False
        self._last_mark = 0
        self.done = False

    @property
    def run(self) -> str:
        """See `kernels.base.Execution`."""
        return str(self._cell)

    async def receive(self) -> Sequence[AnyEvent]:
        """See `kernels.base.Execution`."""
        self._process.channels.active = True
        while not (events := self._collect()):
            if not self._read_ahead:
                await self._process.channels.wait()
        if not self._announced and self.begun:
            self._announced = True
            events.insert(0, Started())
        if self.done:
            self._process.channels.active = False
        return events

    @property
    def begun(self) -> bool:
        """Whether the code has begun to run."""
        return self._process.channels.last_begun() >= self._cell

    def interrupt(self) -> None:
        """Interrupt the cell; one that has not begun yet is interrupted as soon as it has."""
        if self.done or not self._process.alive:
            return
        if self.begun:
            self._process.interrupt()
        else:
            self._process.continue_if_stopped()
            asyncio.get_running_loop().call_later(_BEGIN_POLL, self.interrupt)

    def _collect(self) -> list[AnyEvent]:
        """What can be read now, in order.

        Text is read before frames: a frame that was sent before some text is then there when that text is.
        """
        channels = self._process.channels
        dead = not self._process.alive
        ready: Container[str] = PIPES if dead or self._read_ahead else channels.take_ready()
        self._read_ahead = False
        text = [self._read(name) for name in STREAMS if name in ready]
        events: list[AnyEvent] = []
        if "frames" in ready or any(text):
            self._take_frames(events)
        if not self.done:
            # Text that was read together with the frames may stand behind frames that have come since.
            self._add_text(events, self._last_mark + 1 if self._read_ahead else None)
            if dead and not events and not any(text):
                self._finish_dead(events)
            elif channels.has_ended("frames") and not self._hang_up_planned:
                # It is dying, as will be told in a moment, or it is deaf and dumb: another program took its place.
                self._hang_up_planned = True
                self._process.lost_touch()
                asyncio.get_running_loop().call_later(_HANG_UP_AFTER, self._process.hang_up)
        return events

    def _read(self, name: StreamName) -> bool:
        data = self._process.channels.read(name)
        if data:
            self._process.order.feed(name, data)
        return bool(data)

    def _take_frames(self, events: list[AnyEvent]) -> None:
        """Take all frames that have come, as far as they belong to this cell."""
        waiting = self._process.waiting_frames
        waiting += self._process.frames.feed(self._process.channels.read("frames"))
        while waiting and not self.done:
            self._take_frame(waiting.popleft(), events)

    def _take_frame(self, frame: frames.GuestFrame, events: list[AnyEvent]) -> None:
        if isinstance(frame, frames.PlacedFrame):
            if frame.marked:
                self._read_up_to(frame.mark)
            self._add_text(events, frame.mark)
            self._last_mark = frame.mark
        if isinstance(frame, frames.CheckpointedFrame):
            self._process.on_checkpointed(frame)
            return
        if isinstance(frame, frames.VariablesFrame):
            self._process.lists_under_way -= 1  # Whoever asked for it has not waited.
            return
        if isinstance(frame, frames.CompletedFrame):
            self._process.completions_under_way -= 1
            return
        event = self._as_event(frame)
        if event is None:
            self._foreign += 1
            return
        self.done = isinstance(event, Done)
        events.append(event)

    def _read_up_to(self, mark: int) -> None:
        """All text that stands before a frame: the guest wrote it before the frame, so it is there to be read."""
        order = self._process.order
        for name in STREAMS:
            while not order.reached(name, mark) and self._read(name):
                self._read_ahead = True

    def _add_text(self, events: list[AnyEvent], before: int | None) -> None:
        for name, text in self._process.order.take(before):
            events.append(Stream(name, text))

    def _as_event(self, frame: frames.GuestFrame) -> AnyEvent | None:
        """What a frame says; None if it says nothing to this cell."""
        if isinstance(frame, frames.DisplayFrame | frames.ClearFrame):
            return _as_output(frame)  # A thread that outlives its cell may show something in a later one.
        if frame.id != self._cell:
            return None
        match frame:
            case frames.DoneFrame():
                return self._done(frame)
            case frames.InputFrame():
                return InputRequested(frame.prompt, frame.password)
        return _as_output(frame) if isinstance(frame, frames.ResultFrame | frames.ErrorFrame) else None

    def _done(self, frame: frames.DoneFrame) -> Done:
        self._process.on_done(frame)
        return Done(
            status=frame.status,
            execution_count=frame.execution_count,
            exit_code=frame.exit_code,
            variables=frame.variables,
            notes=self._notes(),
        )

    def _finish_dead(self, events: list[AnyEvent]) -> None:
        """The process has ended and all it sent has been read; its children may still hold the pipes for a moment."""
        process = self._process
        self._dead_since = min(self._dead_since, time.monotonic())
        if not process.cleared.is_set() and time.monotonic() - self._dead_since < _CLEAR_CAP:
            return
        process.order.finish()
        self._add_text(events, None)
        assert process.exit is not None
        detail = _HUNG_UP if process.hung_up else _where(process.channels.read_trace())
        ended = msgspec.structs.replace(process.exit, detail=detail)
        self.done = True
        events.append(Done("crashed", state="lost", process_exit=ended, notes=self._notes()))

    def _notes(self) -> tuple[str, ...]:
        notes, self._process.notes = self._process.notes, []
        count = self._process.frames.malformed - self._malformed_before + self._foreign
        if count:
            what = "1 frame" if count == 1 else f"{count} frames"
            notes.append(f"On the kernel's channel, {what} could not be understood and went unheeded.")
        return tuple(notes)


def _where(trace: str) -> str:
    """What faulthandler wrote, down to the user's last frame: the shell's below it tell nobody anything."""
    lines = [line for line in trace.splitlines() if line]
    end = next((i for i, line in enumerate(lines) if any(name in line for name in _SHELL_FILES)), len(lines))
    return "\n".join(lines[:end])


def _as_output(frame: frames.OutputFrame) -> AnyEvent:
    match frame:
        case frames.ClearFrame():
            return ClearOutput(frame.wait)
        case frames.ResultFrame():
            return Result(frame.bundle, frame.execution_count, frame.metadata)
        case frames.ErrorFrame():
            return Error(frame.ename, frame.evalue, frame.traceback)
    status = Status.from_bundle(frame.bundle)
    return status or Display(frame.bundle, frame.metadata, frame.display_id, frame.update)
