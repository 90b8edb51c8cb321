"""A call that may outlive the wait for it: its caller attends to it for a while, and then it is a job."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from pisces.model.results import ToolResult, Update
from pisces.sessions.beside import beside
from pisces.sessions.jobs import Job, Jobs, Work
from pisces.sessions.progress import OnOutput, OnUpdate
from pisces.sessions.transcript import OutputPiece
from pisces.tools.base import CallContext, Services
from pisces.tools.cell_call import with_refusals_told
from pisces.tools.python_call import CallInSession

T = TypeVar("T")


class Caller:
    """Whoever waits for a call. Its listeners hear of the call as long as it waits, and hold nothing up after that."""

    def __init__(self, context: CallContext) -> None:
        self.context = replace(
            context,
            on_update=None if context.on_update is None else self._update_to(context.on_update),
            on_output=None if context.on_output is None else self._output_to(context.on_output),
            unread=None if context.unread is None else self._unread_by(context.unread),
        )
        self._gone = False
        self._listening: anyio.CancelScope | None = None

    def leave(self) -> None:
        """The caller goes on: a listener that still takes its time is given up."""
        self._gone = True
        if self._listening is not None:
            self._listening.cancel()

    def _update_to(self, listener: OnUpdate) -> OnUpdate:
        def tell(update: Update) -> Awaitable[None] | None:
            return None if self._gone else self._heard(listener(update))

        return tell

    def _output_to(self, listener: OnOutput) -> OnOutput:
        def tell(pieces: Sequence[OutputPiece]) -> Awaitable[None] | None:
            return None if self._gone else self._heard(listener(pieces))

        return tell

    def _unread_by(self, unread: Callable[[], bool]) -> Callable[[], bool]:
        # The result of a job is kept for whoever asks for it, though the caller hangs up meanwhile.
        return lambda: not self._gone and unread()

    def _heard(self, waiting: Awaitable[None] | None) -> Awaitable[None] | None:
        return None if waiting is None else self._until_gone(waiting)

    async def _until_gone(self, waiting: Awaitable[None]) -> None:
        with anyio.CancelScope() as self._listening:
            await waiting
        self._listening = None


class Attendance:
    """How long whoever calls waits for the result, and what hears of the call meanwhile."""

    def __init__(self, services: Services, context: CallContext, patience: float | None) -> None:
        self.patience = patience
        """For how many seconds the caller waits before the call is a job; None to wait to the end."""
        self._services = services
        self._caller = None if patience is None else Caller(context)
        self.context = context if self._caller is None else self._caller.context
        """The context that the call runs in."""

    @classmethod
    def of(cls, services: Services, context: CallContext, *, background: bool) -> "Attendance":
        """As the call, and the settings, want it."""
        milliseconds = services.settings.python.auto_background_ms
        patience = milliseconds / 1000 if milliseconds and context.lasting else None
        return cls(services, context, 0.0 if background else patience)

    async def carry_out(self, call: CallInSession, kernel: str | None) -> ToolResult:
        """Run the call: its result, or that of its becoming a job. `kernel` is the one that it asked for."""
        if self.patience is None or self._caller is None:
            return await call.result()
        guarded = partial(with_refusals_told, self._services, self.context, call.result, kernel)
        if self.patience == 0:
            return await send_off(self._services.jobs, call, guarded, self._caller)
        return await attend(self._services.jobs, call, guarded, self._caller, self.patience)


async def attend(jobs: Jobs, call: CallInSession, work: Work, caller: Caller, patience: float) -> ToolResult:
    """Start the call, and wait that long for its result; after that it is a job, and this is what it says so far.

    Cancelling the wait stops the call and waits until it has settled, as if there were no job.
    """
    subject = call.as_job()
    job = jobs.start(work, subject)
    try:
        with anyio.move_on_after(patience):
            await job.ended.wait()
        if subject.stop.due:  # It is on its way out: the caller who stopped it wants to hear how it ended.
            await job.ended.wait()
    except BaseException:
        subject.stop.ask()
        with anyio.CancelScope(shield=True):
            await job.ended.wait()
        raise
    if job.failure is not None:
        raise job.failure
    if job.result is not None:
        return job.result
    return _let_go(jobs, call, job, caller)


async def send_off(jobs: Jobs, call: CallInSession, work: Work, caller: Caller) -> ToolResult:
    """Start the call as a job, and come back when it has its place in the queue of its session."""
    job = jobs.start(work, call.as_job())
    await anyio.lowlevel.cancel_shielded_checkpoint()
    return _let_go(jobs, call, job, caller)


def _let_go(jobs: Jobs, call: CallInSession, job: Job, caller: Caller) -> ToolResult:
    caller.leave()
    jobs.send_to_background(job)
    return call.so_far(job)


async def unless_aborted(abort: anyio.Event | None, stop: Callable[[], None], work: Callable[[], Awaitable[T]]) -> T:
    """Do the work; call `stop` when the event is set meanwhile, also when it has been set already."""
    if abort is None:
        return await work()
    if abort.is_set():
        stop()

    async def watch() -> None:
        await abort.wait()
        stop()

    return await beside(watch, work)
