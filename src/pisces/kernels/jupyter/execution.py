"""One cell under way on a Jupyter kernel: it feeds the tracker and makes the end of the cell from what that saw."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.numbering import Numbering
from pisces.kernels.jupyter.tracker import ARTIFACT_PROMPT, ExecutionTracker
from pisces.kernels.jupyter.transport import KernelEnded, LinkLost
from pisces.model.events import AnyEvent, Done, ProcessExit, Started, Stream, VariableChanges

if TYPE_CHECKING:
    from pisces.kernels.jupyter.kernel import JupyterKernel

_log = logging.getLogger(__name__)

_BATCH = 1 << 19
"""Characters of text in one batch: what waits in the host is bounded, whatever a message carries."""
_REPLY_CAP = 1.0
"""How long the reply to an interrupted request is waited for, once the kernel is idle."""
_IDLE_CAP = 1.0
"""A kernel that drops messages may have dropped that it is idle: after so long without a word it is asked."""
_SILENCE = 0.15
"""A kernel that says no more for so long has said all of a cell. A busy machine may take 50 ms."""
_LATE_CAP = 1.0
"""For so long, after it was idle, what it says is still the cell's: one may have timers that never end."""
_PROMPTS = 3
"""So many prompts are answered with nothing; a cell that asks again is interrupted."""


class JupyterExecution:
    """Fulfils `kernels.base.Execution`. Pulls: what nobody asks for stays in the socket."""

    def __init__(self, kernel: "JupyterKernel", request: Message, *, inspect: bool, counted: bool) -> None:
        self._kernel = kernel
        self.run = request.id
        client = request.header["session"]
        # A Python kernel that was prepared drops nothing.
        numbering = None if kernel.is_python else Numbering(client)
        self._tracker = ExecutionTracker(request.id, client, numbering=numbering)
        self._inspect = inspect
        self._counted = counted
        self._waiting: deque[AnyEvent] = deque()
        self._interrupts = 0
        self._interrupt_waits = False
        """It was asked for before there was a cell to stop."""
        self._prompts = 0
        self._given_up = False
        """No reply will come: the interrupt hit the kernel itself, which is idle again."""
        self._late_until: float | None = None
        self.done = False

    @property
    def begun(self) -> bool:
        """Whether the code may have begun to run."""
        return self._tracker.begun

    @property
    def interrupts(self) -> int:
        """How often it has been interrupted."""
        return self._interrupts

    async def receive(self) -> Sequence[AnyEvent]:
        """See `kernels.base.Execution`."""
        while not self._waiting:
            try:
                await self._advance()
            except KernelEnded as error:
                self._end_dead(error.exit or ProcessExit(cause=_clause(error)))
            except LinkLost as error:
                self._end_cut(str(error))
        return self._batch()

    async def interrupt(self) -> None:
        """Interrupt the cell; one that has not begun yet is interrupted as soon as it has."""
        self._interrupts += 1
        self._tracker.interrupted = True
        if not self.begun and self._interrupts == 1:
            self._interrupt_waits = True
        elif not self.done:  # The second time, it may be what an earlier cell left that keeps this one waiting.
            await self._signal()

    async def _signal(self) -> None:
        """An interrupt that strikes where the kernel answers can cost the reply and the word that it is idle."""
        asked = await self._kernel.signal(again=self._interrupts > 1)
        if asked:
            self._tracker.idle_after(asked)

    def take_kept(self, messages: Sequence[Message]) -> None:
        """Messages that came between the cells: output of threads is heard with this one."""
        for message in messages:
            self._waiting += self._tracker.take(message)

    async def _advance(self) -> None:
        """Take the next message, and those that are there already."""
        tracker = self._tracker
        if not tracker.finished:  # Else an earlier wait was cancelled right before the end.
            self._take_all(await self._next())
        await self._answer_prompts()
        if self._interrupt_waits and self.begun:
            self._interrupt_waits = False
            await self._signal()
        if tracker.exit is not None:
            self._kernel.died(tracker.exit)
            self._end_dead(tracker.exit)
        elif (tracker.finished or self._given_up) and not await self._hear_late():
            await self._finish()

    async def _hear_late(self) -> bool:
        """Take one more message of a kernel that has said it is idle: some publish after that, as Deno's does.

        False when there is none any more. What prepares a Python kernel is known to keep the order.
        """
        if self._kernel.is_python:
            return False
        if self._late_until is None:
            self._late_until = time.monotonic() + _LATE_CAP
        try:
            with anyio.move_on_after(min(_SILENCE, self._late_until - time.monotonic())):
                self._take_all(await self._kernel.transport.receive())
                if self._tracker.exit is None:
                    return True
                self._kernel.died(self._tracker.exit)
        except (KernelEnded, LinkLost) as error:
            _log.debug("after the cell: %s", error)  # It has ended by itself; the next one finds out.
        return False

    def _take_all(self, message: Message | None) -> None:
        size = 0
        while message is not None:
            size += self._take(message)
            full = size >= _BATCH or self._tracker.finished or self._tracker.exit
            message = None if full else self._kernel.transport.receive_nowait()

    async def _next(self) -> Message | None:
        """The next message; None when one that may never come has been waited for."""
        if self._tracker.idle_without_reply and self._interrupts:
            with anyio.move_on_after(_REPLY_CAP):
                return await self._kernel.transport.receive()
            self._given_up = True
            return None
        if self._tracker.reply_without_idle and not self._kernel.is_python:
            with anyio.move_on_after(_IDLE_CAP):
                return await self._kernel.transport.receive()
            self._tracker.idle_after(await self._kernel.ask_who_it_is())
            return None
        return await self._kernel.transport.receive()

    def _take(self, message: Message) -> int:
        events = self._tracker.take(message)
        self._waiting += events
        return sum(len(event.text) for event in events if isinstance(event, Stream))

    async def _answer_prompts(self) -> None:
        requests, self._tracker.unanswered_input = self._tracker.unanswered_input, []
        for request in requests:
            prompt = str(request.content.get("prompt", ""))
            if prompt.startswith(ARTIFACT_PROMPT):
                await self._kernel.send_artifact(request, prompt.removeprefix(ARTIFACT_PROMPT))
                continue
            await self._kernel.refuse_input(request)
            self._prompts += 1
            if self._prompts > _PROMPTS:
                await self.interrupt()

    async def _finish(self) -> None:
        """The kernel has answered: what is still to be known is asked, and the cell is done."""
        tracker, kernel = self._tracker, self._kernel
        status = tracker.status(python=kernel.is_python)
        reply = tracker.reply or {}
        count = reply.get("execution_count") if self._counted else None
        changes: VariableChanges | None = None
        if self._inspect:
            changes = kernel.changes_in(reply) or await kernel.ask_changes()
        self.done = True
        notes = [*kernel.take_notes(), *self._about_dropped()]
        self._waiting += tracker.closing_events()
        restarted = self._counted and kernel.count_went_back(count)
        if restarted:
            notes.append("The kernel counts its cells from the beginning: it was restarted before this one ran.")
        self._waiting.append(
            Done(
                status,
                execution_count=count,
                state="lost" if restarted else "kept",
                exit_code=tracker.exit_code(),
                variables=changes,
                notes=tuple(notes),
            )
        )

    def _about_dropped(self) -> list[str]:
        if self._tracker.dropped:
            limit = "iopub_data_rate_limit" if self._tracker.dropped == "data" else "iopub_msg_rate_limit"
            return [f"The Jupyter server left out part of this cell's output, which came too fast for its {limit}."]
        lost = self._tracker.lost
        return [f"Output is missing: the kernel dropped {lost} of its messages, which came too fast."] if lost else []

    def _end_dead(self, ended: ProcessExit) -> None:
        if not self.done:
            self._end_begun()
            notes = (*self._kernel.take_notes(), *self._about_dropped())
            self._waiting.append(Done("crashed", state="lost", process_exit=ended, notes=notes))

    def _end_cut(self, why: str) -> None:
        if not self.done:
            self._end_begun()
            self._kernel.unsure()
            notes = (f"{why}. Whether the cell finished is not known.", *self._about_dropped())
            self._waiting.append(Done("disconnected", state="unknown", notes=notes))

    def _end_begun(self) -> None:
        """It was sent, so it may have begun: a kernel that dies at once takes the news of that along."""
        self.done = True
        if not self._tracker.begun:
            self._waiting.append(Started())

    def _batch(self) -> list[AnyEvent]:
        batch: list[AnyEvent] = []
        size = 0
        while self._waiting and size < _BATCH:
            event = self._waiting.popleft()
            batch.append(event)
            size += len(event.text) if isinstance(event, Stream) else 0
        return batch


def _clause(error: KernelEnded) -> str:
    """Why it ended, for a sentence whose subject is the kernel."""
    return f"ended ({error})"
