"""One call of the `eval` tool: each cell in the session of its language, and one result for all of them."""

from pisces.errors import KernelStartError, PiscesError
from pisces.kernels.deadline import Deadline
from pisces.model.cells import CellRecord
from pisces.model.kernel_info import KernelInfo
from pisces.model.results import ToolResult
from pisces.sessions.doings import Doings
from pisces.sessions.key import SessionKey
from pisces.sessions.report import RunReport
from pisces.sessions.run import CallRun
from pisces.sessions.session import Session
from pisces.tools.cell_call import CellCall
from pisces.tools.eval_languages import find_seats, is_configured_python
from pisces.tools.eval_params import EvalCell, EvalParams, deadline_of
from pisces.tools.python_result import CallEnd, cells_result, dropped_sentence, stopped_result
from pisces.tools.seat import Seat


class EvalCall:
    """Runs the cells one after the other, each in its own turn of its own session."""

    def __init__(self, call: CellCall, params: EvalParams, deadline: Deadline) -> None:
        """`deadline` is that of the first cell, and of what has to be found out before it."""
        self._call = call
        self._cells = params.cells
        self._deadline = deadline
        self._report = RunReport(records=list(call.records))
        self._runs: list[CallRun] = []
        self._sessions: dict[SessionKey, Session] = {}
        self._doings: dict[SessionKey, Doings] = {}
        self._not_kept: dict[SessionKey, str] = {}

    async def result(self) -> ToolResult:
        """Run the cells and say how it went. Raises what kept the first of them from being run."""
        call, languages = self._call, (cell.language for cell in self._cells)
        seats = await find_seats(call.services, languages, call.stop, self._deadline)
        if seats is None:
            return stopped_result(self._report.records, call.stop, self._deadline, "no kernel had been found yet")
        try:
            await self._run_cells(seats)
        except BaseException:
            for run in self._runs:
                run.hand_back_news()
            raise
        finally:
            call.transcript.close()
            if call.one_off:
                for session in self._sessions.values():
                    await call.services.pool.end(session)
        return await self._told()

    async def _run_cells(self, seats: dict[str, Seat]) -> None:
        for cell, record in zip(self._cells, self._report.records, strict=True):
            if record.index:
                self._deadline = deadline_of(cell)
            try:
                await self._run(cell, record, seats[cell.language])
            except PiscesError as error:
                if not record.index:
                    raise
                self._not_run(record, error)
            ok = record.status == "complete"
            if not ok and not (self._call.context.keep_going and self._report.outcome == "error"):
                return

    async def _run(self, cell: EvalCell, record: CellRecord, seat: Seat) -> None:
        call = self._call
        session = call.session(seat, reset=cell.reset)
        key = session.key
        self._sessions[key] = session
        run = call.run(
            session,
            [record],
            self._deadline,
            reset=cell.reset,
            doings=self._doings.setdefault(key, Doings()),
            subject=cell.language,
        )
        self._runs.append(run)
        try:
            report = await run.run()
        finally:
            record.kernel = session.info(run.report.state, run.report.restore)
        self._report.notices += call.about_session(session)
        self._take(report, python=is_configured_python(cell.language))
        if report.dropped is not None:
            self._report.notes.append(f"{cell.language}: {dropped_sentence(report.dropped)}")
        self._report.notes += call.about_jobs(session, [record])
        self._not_kept[key] = report.not_kept

    def _take(self, part: RunReport, *, python: bool) -> None:
        """How one cell went, into the report on all of them."""
        whole = self._report
        whole.notices += part.notices
        whole.notes += part.notes
        whole.lost_cells += part.lost_cells
        whole.state = part.state
        if python:
            whole.variables = part.variables
        if part.outcome != "ok":
            whole.outcome = part.outcome
            whole.error = whole.error or part.error

    def _not_run(self, record: CellRecord, error: PiscesError) -> None:
        """A later cell could not be run: what the earlier ones said is told all the same."""
        if isinstance(error, KernelStartError):
            self._call.services.interpreters.forget(None)
        record.status = "error"
        record.exit_code = 1
        self._report.outcome = "error"
        self._report.state = "kept"
        self._report.notes.append(f"Cell {record.index + 1} was not run: {error.explain()}")

    async def _told(self) -> ToolResult:
        call, report = self._call, self._report
        report.notes += call.transcript.left_out()
        report.notes += [sentence for sentence in self._not_kept.values() if sentence]
        end = CallEnd(call.session_name, _kernel_of(report.records), self._deadline.seconds)
        return await cells_result(report, call.transcript, end, call.context.read_with)


def _kernel_of(records: list[CellRecord]) -> KernelInfo | None:
    """The kernel that a reader who looks at one should look at: a loss must not be missed."""
    kernels = [record.kernel for record in records if record.kernel is not None]
    return next((kernel for kernel in kernels if kernel.state != "kept"), kernels[-1] if kernels else None)
