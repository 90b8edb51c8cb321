"""The actions of the `notebook` tool that run cells: in the session's kernel, and their outputs into the file."""

from functools import partial
from typing import Final

import anyio

from pisces.errors import BadCell, NotebookError
from pisces.kernels.deadline import Deadline
from pisces.model.results import Details, TextBlock, ToolResult
from pisces.notebooks.addressing import place_of, places_of
from pisces.notebooks.cell import Cell
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import NotebookFile
from pisces.notebooks.outputs_writer import OutputsWriter
from pisces.notebooks.recorder import Recorder
from pisces.notebooks.run_plan import RunPlan, kernelspec_of
from pisces.sessions.report import RunReport
from pisces.sessions.run import CallRun
from pisces.sessions.session import Session
from pisces.sessions.stop import StopSignal
from pisces.tools.base import CallContext, Services
from pisces.tools.cell_call import CellCall, one_off_name, with_refusals_told
from pisces.tools.eval_languages import find_seats
from pisces.tools.notebook_params import NotebookParams
from pisces.tools.notebook_result import RunWords
from pisces.tools.notebook_seen import Seen
from pisces.tools.python import DEFAULT_TIMEOUT
from pisces.tools.python_background import Attendance, unless_aborted
from pisces.tools.python_call import CallInSession
from pisces.tools.python_params import MIN_TIMEOUT, folder_at, seconds_of
from pisces.tools.python_result import NO_INTERPRETER, CallEnd, cells_result, stopped_result
from pisces.tools.seat import Seat, find_seat

_KEPT_TOGETHER_MS: Final = 50.0
"""A checkpoint after each of 100 cells that do next to nothing would take three times as long as the cells.

What a crash can cost beyond its own cell is so much work of cells that are in the notebook, and the reply names them.
"""


class NotebookRun:
    """One call that runs cells of a notebook."""

    def __init__(
        self, services: Services, params: NotebookParams, context: CallContext, file: NotebookFile, seen: Seen
    ) -> None:
        self._seen = seen
        self._services = services
        self._params = params
        self._context = context
        self._file = file

    async def result(self) -> ToolResult:
        """Run the cells. Raises `NotebookError` when the notebook, or the cell, is not there."""
        document, plan = await anyio.to_thread.run_sync(self._prepare)
        if not plan.records:
            return self._nothing_to_run(document, plan)
        attendance = Attendance.of(self._services, self._context, background=bool(self._params.background))
        deadline = Deadline.after(self._timeout(len(plan.records), waited_for=attendance.patience is None))
        cwd = folder_at(self._params.cwd, self._services.cwd)
        asked_for = self._params.session or self._context.default_session
        call = CellCall(
            self._services,
            attendance.context,
            plan.records,
            tool="notebook",
            session=asked_for,
            one_off=one_off_name(self._services),
            deadline=deadline,
        )

        async def work() -> ToolResult:
            seat = await self._seat(document, call.stop, deadline)
            if seat is None:
                return stopped_result(plan.records, call.stop, deadline, NO_INTERPRETER)
            words = RunWords(self._params, plan, len(document.cells))
            words.left_alone = asked_for if self._restart else ""
            running = self._in_session(call, seat, words, deadline, cwd or self._folder(seat))
            return await attendance.carry_out(running, self._params.kernel)

        stoppable = partial(unless_aborted, self._context.abort, call.stop.ask, work)
        return await with_refusals_told(self._services, self._context, stoppable, self._params.kernel)

    @property
    def _restart(self) -> bool:
        """Whether to run in a fresh kernel; one that ends with the call is fresh anyway."""
        return bool(self._params.restart) and self._stays

    async def _seat(self, document: Document, stop: StopSignal, deadline: Deadline) -> Seat | None:
        """The kernel that was asked for; else that of the notebook, where that is not in Python."""
        spec = None if self._params.kernel else kernelspec_of(document)
        if spec is None:
            return await find_seat(self._services, self._params.kernel, stop, deadline)
        seats = await find_seats(self._services, [spec], stop, deadline)
        return None if seats is None else seats[spec]

    def _prepare(self) -> tuple[Document, RunPlan]:
        """The notebook as it is now, and what is to be run of it. An index means what the caller has seen."""
        document = self._file.read()
        if self._params.cell_index is not None:
            self._file.must_be(self._seen.version)
        return document, RunPlan.of(document, _places(document, self._params))

    def _in_session(
        self, call: CellCall, seat: Seat, words: RunWords, deadline: Deadline, cwd: str | None
    ) -> "_NotebookInSession":
        plan = words.plan
        session = call.clean_session(seat) if self._restart else call.session(seat, reset=False)
        words.session = session.key.id
        if self._restart:
            sessions = self._services.pool.sessions
            words.has_left_alone = any(other.key.id == words.left_alone and not other.closed for other in sessions)
        elif cwd is not None and cwd != session.folder and self._stays:
            words.moved = cwd
        recorder = Recorder(lambda: call.transcript.sink.artifact_id)
        run = call.run(
            session,
            plan.records,
            deadline,
            cwd=cwd,
            reset=self._restart,
            keep_going=bool(self._params.keep_going),
            may_fail=plan.may_fail,
            put_off_ms=_KEPT_TOGETHER_MS,
            notebook=str(self._seen.path),
            witness=recorder,
        )
        writer = OutputsWriter(self._file, plan.cells, recorder, partial(self._seen.wrote, self._file))
        return _NotebookInSession(call, session, run, deadline, writer=writer, words=words)

    @property
    def _stays(self) -> bool:
        """Whether anything can be called in the session after this call."""
        return self._context.lasting and self._services.settings.python.kernel_mode == "session"

    def _timeout(self, cells: int, *, waited_for: bool) -> float:
        most = self._services.settings.python.max_timeout
        usual = DEFAULT_TIMEOUT if self._params.action == "run" and waited_for and cells == 1 else most
        longest = self._context.longest(most)
        return seconds_of(self._params.timeout, default=usual, least=MIN_TIMEOUT, most=longest)

    def _folder(self, seat: Seat) -> str | None:
        """Where the notebook is, as in Jupyter; the folders of a server elsewhere are not ours."""
        return None if seat.choice.name == "external" else str(self._file.path.parent.resolve())

    def _nothing_to_run(self, document: Document, plan: RunPlan) -> ToolResult:
        params = self._params
        if params.action == "run" and params.last_index is None:
            place = place_of(document.cells, params.cell_index, params.cell_id, params.notebook_path)
            _refuse_unless_code(document.cells[place], place, params.notebook_path)
        words = RunWords(params, plan, len(document.cells))
        details = words.details(Details())
        return ToolResult(content=[TextBlock("\n".join(words.nothing_to_run()))], details=details)


class _NotebookInSession(CallInSession):
    """The call in its session; what its cells say goes into the notebook too."""

    def __init__(
        self,
        call: CellCall,
        session: Session,
        run: CallRun,
        deadline: Deadline,
        *,
        writer: OutputsWriter,
        words: RunWords,
    ) -> None:
        super().__init__(call, session, run, deadline)
        self._writer = writer
        self._words = words

    async def _carry_out(self) -> RunReport:
        return await self._writer.during(super()._carry_out)

    async def _told(self, report: RunReport, end: CallEnd) -> ToolResult:
        words, call = self._words, self._call
        words.take_trouble(self._writer)
        words.overwritten = report.overwritten
        result = await cells_result(report, call.transcript, end, call.context.read_with, closing=words.closing)
        assert isinstance(result.details, Details)
        result.details = words.details(result.details)
        result.is_error = result.details.is_error
        return result


def _refuse_unless_code(cell: Cell, place: int, path: str) -> None:
    if cell.flaw:
        raise BadCell(cell.flaw)
    if cell.cell_type != "code":
        raise NotebookError(f"Cell {place} is a {cell.cell_type} cell: only code cells can be run in {path}")


def _places(document: Document, params: NotebookParams) -> range:
    """The cells of the notebook that the call is about."""
    cells, path = document.cells, params.notebook_path
    if params.action == "run_all":
        return range(len(cells))
    if params.last_index is not None and params.cell_index is not None:
        return places_of(cells, params.cell_index, params.last_index, path)
    place = place_of(cells, params.cell_index, params.cell_id, path)
    return range(0 if params.action == "run_until" else place, place + 1)
