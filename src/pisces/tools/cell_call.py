"""A call that runs cells, whichever tool it is of: who asked, how it is stopped, and all that the cells say."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import count

from pisces.errors import InterpreterError, InvalidCall, KernelStartError, PiscesError
from pisces.kernels.deadline import Deadline
from pisces.model.cells import CellRecord
from pisces.model.results import ToolResult
from pisces.output.sink import SinkLimits
from pisces.sessions.doings import Doings
from pisces.sessions.progress import Progress
from pisces.sessions.report import RunOptions
from pisces.sessions.run import CallRun
from pisces.sessions.session import Session
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.sessions.witness import Witness
from pisces.tools.base import CallContext, Services, error_result, tools_without_kernel
from pisces.tools.bridge_calls import CellTools, refuse_to_wait_for_itself
from pisces.tools.job_text import busy_notice, finished_notice
from pisces.tools.seat import Seat
from pisces.tools.session_lookup import new_session_notice, separate_notice, shared_notice

_ONE_OFF = count(1)
"""Numbers the sessions of per-call mode, for all runtimes: several sets of tools may share one pool."""


def one_off_name(services: Services) -> str | None:
    """In per-call mode, the name of the session that this call has to itself."""
    return f"call-{next(_ONE_OFF)}" if services.settings.python.kernel_mode == "per-call" else None


async def with_refusals_told(
    services: Services, context: CallContext, work: Callable[[], Awaitable[ToolResult]], kernel: str | None = None
) -> ToolResult:
    """Convert our own errors to results; parameter errors propagate. `kernel` is the one that was asked for."""
    try:
        return await work()
    except InvalidCall:
        raise
    except PiscesError as error:
        sentences = [error.explain()]
        if isinstance(error, KernelStartError):
            services.interpreters.forget(kernel)
        if kernel is None and isinstance(error, InterpreterError | KernelStartError):
            sentences.append(tools_without_kernel(context.tools))
        return error_result("\n".join(filter(None, sentences)))


class CellCall:
    """It has one text and one way to be stopped, in however many sessions its cells run."""

    def __init__(
        self,
        services: Services,
        context: CallContext,
        records: Sequence[CellRecord],
        *,
        tool: str,
        session: str | None,
        one_off: str | None,
        deadline: Deadline,
    ) -> None:
        """`session` names the session; `one_off`, in its stead, one of the call's own, which ends with it."""
        self.services = services
        self.context = context
        self.records = records
        self.stop = StopSignal(deadline)
        self.one_off = one_off is not None
        limits = SinkLimits.of(services.settings.output)
        name = one_off or session or context.default_session
        self.transcript = Transcript(session=name, tool=tool, artifacts=services.artifacts, limits=limits)
        self._progress = Progress(context.on_update, self.transcript, stop=self.stop, on_output=context.on_output)
        self._progress.follow(records)

    @property
    def session_name(self) -> str:
        """The session of the call."""
        return self.transcript.session

    def clean_session(self, seat: Seat) -> Session:
        """A session beside that of the call, to run a notebook from scratch. Raises as `session` does."""
        pool, beside = self.services.pool, self.session_name
        self.transcript.session = pool.clean_name(beside)
        session = self.session(seat, reset=True)
        session.runs_clean_for = seat.key(beside, self.services.cwd)
        return session

    def session(self, seat: Seat, *, reset: bool) -> Session:
        """The session of the call that has such a kernel. Raises `KernelError` when that cannot be had.

        Raises `SessionError` when it is that of a cell which waits for this call.
        """
        pool, owner = self.services.pool, self.context.owner
        key = seat.key(self.session_name, self.services.cwd)
        refuse_to_wait_for_itself(self.context, key)
        terms = seat.terms(self.services, durable=self.context.durable and not self.one_off)
        session = pool.session(key, owner, terms)
        if reset:
            session = pool.separate(session, owner, terms)
        # Its cells may change values in place without a trace, and may already wait in the queue: from now on no run
        # from scratch may drop the session.
        session.runs_clean_for = None
        session.used_by(self.context.caller)
        return session

    def run(
        self,
        session: Session,
        records: Sequence[CellRecord],
        deadline: Deadline,
        *,
        cwd: str | None = None,
        reset: bool = False,
        doings: Doings | None = None,
        notebook: str = "",
        subject: str = "",
        keep_going: bool = False,
        may_fail: frozenset[int] = frozenset(),
        put_off_ms: float = 0.0,
        witness: Witness | None = None,
    ) -> CallRun:
        """The run of some of its cells, which have this deadline, in one of its sessions."""
        python = self.services.settings.python
        self.stop.give(deadline)
        options = RunOptions(
            owner=self.context.owner,
            cwd=cwd,
            reset=reset,
            keep_going=keep_going or self.context.keep_going,
            may_fail=may_fail,
            put_off_ms=put_off_ms,
            inspect=python.variables,
            interrupt_grace=python.interrupt_grace,
            retry_on_crash=python.retry_on_crash,
            cells=len(self.records),
            notebook=notebook,
            subject=subject,
            unread=self.context.unread,
        )
        return CallRun(
            session,
            records,
            options=options,
            deadline=deadline,
            transcript=self.transcript,
            stop=self.stop,
            progress=self._progress,
            doings=doings,
            witness=witness,
            tools=CellTools(self.services),
            callers=self.context.callers,
        )

    def about_session(self, session: Session) -> list[str]:
        """Notices about the session itself, each given once: it is new or separate, or another agent uses it too."""
        context = self.context
        if self.one_off or (context.unread is not None and context.unread()):
            return []
        notices = [shared_notice(session)] if session.take_sharing(context.caller) else []
        if session.is_separate:
            session.is_separate = False
            notices.append(separate_notice(session))
        is_new, session.is_new = session.is_new, False
        # The reply to a notebook run from scratch names its session anyway, and nobody has typed that name.
        if is_new and context.announce_new and not session.source.looked and not session.runs_clean_for:
            notices += new_session_notice(self.services, context, session.key.id)
        return notices

    def about_jobs(self, session: Session, records: Sequence[CellRecord], *, attended: bool = True) -> list[str]:
        """Which job kept these cells from running, and which have finished, if somebody reads it now."""
        jobs = self.services.jobs
        busy = jobs.at_work_in(session)
        waited_in_vain = all(record.status == "pending" for record in records)
        notices = [busy_notice(busy.info())] if busy is not None and waited_in_vain else []
        if attended:
            notices += [finished_notice(job.info()) for job in jobs.take_news(session)]
        return notices
