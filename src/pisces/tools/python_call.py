"""One call of the `python` tool: it finds its session, runs its cells there, and makes a result of what they said."""

from pisces.kernels.deadline import Deadline
from pisces.model.results import ToolResult
from pisces.sessions.jobs import Job, JobSubject
from pisces.sessions.session import Session
from pisces.tools.cell_call import CellCall
from pisces.tools.job_text import finished_notice
from pisces.tools.python_params import PythonParams
from pisces.tools.python_result import CallEnd, cells_result, running_result
from pisces.tools.seat import find_seat


class PythonCall:
    """A call that has no session yet."""

    def __init__(self, call: CellCall, params: PythonParams, deadline: Deadline, cwd: str | None) -> None:
        self.call = call
        self.deadline = deadline
        self.cwd = cwd
        self._params = params

    async def open(self) -> "CallInSession | None":
        """Find the session, or make it. None if the call was stopped first."""
        call, params = self.call, self._params
        seat = await find_seat(call.services, params.kernel, call.stop, self.deadline)
        if seat is None:
            return None
        return CallInSession(self, call.session(seat, reset=params.reset), reset=params.reset)


class CallInSession:
    """A call that has its session: its output, its end. `result` runs it."""

    def __init__(self, opened: PythonCall, session: Session, *, reset: bool) -> None:
        self.session = session
        self.attended = True
        """Whether somebody waits for the result; False once the call is a job."""
        self._call = opened.call
        self._deadline = opened.deadline
        self._run = self._call.run(
            session,
            self._call.records,
            opened.deadline,
            cwd=opened.cwd,
            reset=reset and not self._call.one_off,
        )

    async def result(self) -> ToolResult:
        """Run the cells and say how it went. A session of the call's own is ended then."""
        call = self._call
        try:
            try:
                report = await self._run.run()
            finally:
                call.transcript.close()
            report.notes += call.transcript.left_out()
            report.notes += call.about_jobs(self.session, call.records, attended=self.attended)
            kernel = self.session.info(report.state, report.restore)
            end = CallEnd(self.session.key.id, kernel, self._deadline.seconds)
            return await cells_result(report, call.transcript, end, call.context.read_with)
        finally:
            if call.one_off:
                await call.services.pool.end(self.session)

    def as_job(self) -> JobSubject:
        """The call, for those who look at it from outside."""
        return JobSubject(
            session=self.session,
            owner=self._call.context.owner,
            stop=self._call.stop,
            records=self._call.records,
            transcript=self._call.transcript,
            shared=not self._call.one_off,
        )

    def so_far(self, job: Job) -> ToolResult:
        """The result of a call that has just become a job."""
        self.attended = False
        news = [finished_notice(other.info()) for other in self._call.services.jobs.take_news(self.session)]
        return running_result(job, self._run.report, news, self._deadline, self._call.context.read_with)
