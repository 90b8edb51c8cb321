"""A call whose cells all run in one session: it runs them there, and makes a result of what they said."""

from pisces.kernels.deadline import Deadline
from pisces.model.results import ToolResult
from pisces.sessions.jobs import Job, JobSubject
from pisces.sessions.report import RunReport
from pisces.sessions.run import CallRun
from pisces.sessions.session import Session
from pisces.tools.cell_call import CellCall
from pisces.tools.job_text import finished_notice
from pisces.tools.python_result import CallEnd, cells_result, running_result


class CallInSession:
    """A call that has its session: its output, its end. `result` runs it."""

    def __init__(self, call: CellCall, session: Session, run: CallRun, deadline: Deadline) -> None:
        self.session = session
        self.attended = True
        """Whether somebody waits for the result; False once the call is a job."""
        self._call = call
        self._deadline = deadline
        self._run = run

    async def result(self) -> ToolResult:
        """Run the cells and say how it went. A session of the call's own is ended then."""
        call = self._call
        try:
            try:
                report = await self._carry_out()
            finally:
                call.transcript.close()
            if self.attended:
                report.notices[:0] = call.about_session(self.session)
            report.notes += call.transcript.left_out()
            report.notes += call.about_jobs(self.session, call.records, attended=self.attended)
            kernel = self.session.info(report.state, report.restore)
            return await self._told(report, CallEnd(self.session.key.id, kernel, self._deadline.seconds))
        finally:
            if call.one_off:
                await call.services.pool.end(self.session)

    async def _carry_out(self) -> RunReport:
        return await self._run.run()

    async def _told(self, report: RunReport, end: CallEnd) -> ToolResult:
        return await cells_result(report, self._call.transcript, end, self._call.context.read_with)

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
        news = self._call.about_session(self.session)
        news += [finished_notice(other.info()) for other in self._call.services.jobs.take_news(self.session)]
        return running_result(job, self._run.report, news, self._deadline, self._call.context.read_with)
