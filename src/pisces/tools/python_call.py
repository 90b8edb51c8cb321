"""One call of the `python` tool: it finds its session, runs its cells there, and makes a result of what they said."""

from collections.abc import Sequence

from pisces.kernels.deadline import Deadline
from pisces.model.cells import Cell
from pisces.model.results import ToolResult
from pisces.output.sink import SinkLimits
from pisces.sessions.jobs import Job, JobSubject
from pisces.sessions.progress import Progress
from pisces.sessions.report import RunOptions
from pisces.sessions.run import CallRun
from pisces.sessions.session import Session
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.tools.base import CallContext, Services
from pisces.tools.job_text import busy_notice, finished_notice
from pisces.tools.python_params import PythonParams
from pisces.tools.python_result import python_result, running_result
from pisces.tools.seat import Seat, find_seat

DEFAULT_SESSION = "default"


class PythonCall:
    """A call that has no session yet."""

    def __init__(
        self, services: Services, params: PythonParams, context: CallContext, deadline: Deadline, cwd: str | None
    ) -> None:
        self.stop = StopSignal(deadline)
        self.deadline = deadline
        self.context = context
        self.services = services
        self.cwd = cwd
        self._params = params

    async def open(self, cells: Sequence[Cell], one_off: str | None) -> "CallInSession | None":
        """Find the session, or make it; `one_off` names one of the call's own. None if the call was stopped first."""
        seat = await find_seat(self.services, self._params.kernel, self.stop, self.deadline)
        if seat is None:
            return None
        session = self._session(seat, one_off)
        return CallInSession(self, session, cells, reset=self._params.reset, one_off=one_off is not None)

    def _session(self, seat: Seat, one_off: str | None) -> Session:
        services, owner = self.services, self.context.owner
        key = seat.key(one_off or self._params.session or DEFAULT_SESSION, services.cwd)
        terms = seat.terms(services, durable=self.context.durable and one_off is None)
        session = services.pool.session(key, owner, terms)
        return services.pool.separate(session, owner, terms) if self._params.reset else session


class CallInSession:
    """A call that has its session: its output, its end. `result` runs it."""

    def __init__(
        self, call: PythonCall, session: Session, cells: Sequence[Cell], *, reset: bool, one_off: bool
    ) -> None:
        services, context, python = call.services, call.context, call.services.settings.python
        self.session = session
        self.attended = True
        """Whether somebody waits for the result; False once the call is a job."""
        self._call = call
        self._one_off = one_off
        self.transcript = Transcript(
            session=session.key.id, tool="python", artifacts=services.artifacts, limits=_limits(services)
        )
        self._run = CallRun(
            session,
            cells,
            options=RunOptions(
                owner=context.owner,
                cwd=call.cwd,
                reset=reset and not one_off,
                keep_going=context.keep_going,
                inspect=python.variables,
                interrupt_grace=python.interrupt_grace,
                retry_on_crash=python.retry_on_crash,
            ),
            deadline=call.deadline,
            transcript=self.transcript,
            stop=call.stop,
            progress=Progress(context.on_update, self.transcript, stop=call.stop, on_output=context.on_output),
        )

    async def result(self) -> ToolResult:
        """Run the cells and say how it went. A session of the call's own is ended then."""
        try:
            try:
                report = await self._run.run()
            finally:
                self.transcript.close()
            report.notes += [*self.transcript.left_out(), *self._about_jobs()]
            return await python_result(
                report, self.transcript, self.session, self._call.deadline, self._call.context.read_with
            )
        finally:
            if self._one_off:
                await self._call.services.pool.end(self.session)

    def as_job(self) -> JobSubject:
        """The call, for those who look at it from outside."""
        return JobSubject(
            session=self.session,
            owner=self._call.context.owner,
            stop=self._call.stop,
            records=self._run.report.records,
            transcript=self.transcript,
            shared=not self._one_off,
        )

    def so_far(self, job: Job) -> ToolResult:
        """The result of a call that has just become a job."""
        self.attended = False
        news = [finished_notice(other.info()) for other in self._call.services.jobs.take_news(self.session)]
        return running_result(job, self._run.report, news, self._call.deadline, self._call.context.read_with)

    def _about_jobs(self) -> list[str]:
        """Which job kept this call from running, and which have finished, if somebody reads it now."""
        jobs = self._call.services.jobs
        busy = jobs.at_work_in(self.session)
        waited_in_vain = all(record.status == "pending" for record in self._run.report.records)
        notices = [busy_notice(busy.info())] if busy is not None and waited_in_vain else []
        if self.attended:
            notices += [finished_notice(job.info()) for job in jobs.take_news(self.session)]
        return notices


def _limits(services: Services) -> SinkLimits:
    output = services.settings.output
    return SinkLimits(max_bytes=output.max_bytes, max_lines=output.max_lines, head_bytes=output.head_budget)
