"""Running the cells of a call: one deadline, cancellation that waits for the cell to settle, and a truthful end."""

from collections.abc import Sequence

import anyio
from msgspec.structs import replace

from pisces.bridge.lease import HostTools, Lease
from pisces.errors import (
    DeadlineExceeded,
    KernelError,
    KernelGone,
    KernelStartError,
    PiscesError,
    TooManyRestarts,
)
from pisces.kernels.base import ExecuteRequest, Execution, Kernel, Mortal
from pisces.kernels.deadline import Deadline
from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, Done, InputRequested, Started
from pisces.model.results import Outcome
from pisces.sessions.attempt import Attempt, exit_code
from pisces.sessions.doings import Doings
from pisces.sessions.progress import Progress
from pisces.sessions.recovery import StateNews
from pisces.sessions.report import RunOptions, RunReport
from pisces.sessions.session import Session
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.sessions.witness import Witness

_START_SLACK = 0.2
"""A start keeps the deadline by itself and says what it waited for; this is for one that does not."""


class CallRun:
    """One call of a session, from its turn in the queue to its report; or that part of a call which runs there."""

    def __init__(
        self,
        session: Session,
        records: Sequence[CellRecord],
        *,
        options: RunOptions,
        deadline: Deadline,
        transcript: Transcript,
        stop: StopSignal,
        progress: Progress,
        doings: Doings | None = None,
        witness: Witness | None = None,
        tools: HostTools | None = None,
        callers: tuple[Lease, ...] = (),
    ) -> None:
        """`doings` is that of the parts of the call that ran in this session before; `witness` sees all of it.

        `tools` are what the cells may call, `callers` the leases of cells that wait for this call.
        """
        self.report = RunReport(records=list(records))
        self._session = session
        self._options = options
        self._deadline = deadline
        self._transcript = transcript
        self._stop = stop
        self._progress = progress
        self._witness = witness
        self._tools = tools
        self._callers = callers
        self._told: StateNews | None = None
        self._doings = doings or Doings()
        self._from_scratch = options.reset and bool(options.notebook)
        """Whether this is a notebook's run from scratch: a check, whose kernel is fresh for it alone."""
        self._joined_reset = options.reset and session.resetting and not self._from_scratch

    async def run(self) -> RunReport:
        """Wait for the turn, run the cells. A cell that fails is in the report; only errors of ours are raised."""
        if not await self._enter():
            self._nothing_ran("the calls before this one in the session had not finished")
            return self.report
        self._session.active_stop = self._stop
        self._session.journal.begin_call()
        try:
            if await self._ready():
                await self._run_cells()
                self.report.variables = self._doings.variables
                self.report.overwritten = self._doings.overwritten
                self.report.may_have_overwritten_more = self._doings.may_have_overwritten_more
            self._report_dropped()
            if self._options.unread is not None and self._options.unread():
                self.hand_back_news()  # Here, because whoever waits for the turn begins when it is left.
            else:
                self.report.notes += self._session.take_notes()
        except PiscesError as error:
            for note in self._session.take_notes():
                error.add_note(note)
            self.hand_back_news()
            raise
        except BaseException:
            self.hand_back_news()
            raise
        finally:
            self._session.leave_turn()
        return self.report

    def _report_dropped(self) -> None:
        """What the reset took away, and with how many steps an undo could take it back now."""
        dropped = self._session.dropped if self._options.reset and not self._joined_reset else None
        if dropped is not None:
            self.report.dropped = replace(dropped, undo_steps=self._session.state.steps_over_reset)

    def hand_back_news(self) -> None:
        """Nobody will read the report: what it says of the state is said with the next call, and not here."""
        if self._told is not None:
            self._session.leave_news(self._options.owner, self._told)
            self._told = None
            self.report.state, self.report.restore = "kept", None
            self.report.notices.clear()

    async def _enter(self) -> bool:
        """Have the turn, unless the call is stopped before it comes."""
        entered = self._session.enter_turn_at_once()
        if not entered:
            with self._stop.scope():
                await self._session.enter_turn()
                entered = True
        return entered

    async def _ready(self) -> bool:
        """Have a kernel, a fresh one where that was asked for, before the call is stopped."""
        if self._options.reset:
            self._doings.forget()
        ready = not self._options.reset and await self._session.has_kernel()
        if ready:
            return True
        try:
            with self._stop.scope(slack=_START_SLACK):
                if self._options.reset and not self._joined_reset:
                    await self._session.reset(self._deadline)
                await self._session.ensure_kernel(self._deadline)
                ready = True
        except DeadlineExceeded as error:
            self._nothing_ran(error.clause)
            return False
        if not ready:
            self._nothing_ran("the kernel was not up yet")
        return ready

    def _nothing_ran(self, why: str) -> None:
        first = self.report.records[0]
        self.report.outcome = self._stopped_at(first.index)
        what = f"{_begun(first.called)} was not run" if first.index else "Nothing was run"
        self.report.notes.append(f"{what}: {why}.")

    async def _run_cells(self) -> None:
        for record in self.report.records:
            if self._stop.due:
                self._stopped_before(record)
                return
            ok = await self._run_with_retry(record)
            await self._progress.changed()
            if not ok and not (self._options.keep_going and self.report.outcome == "error"):
                return

    def _stopped_before(self, record: CellRecord) -> None:
        self.report.outcome = self._stopped_at(record.index)
        self.report.notes.append(f"Stopped before {record.called}.")

    def _stopped_at(self, index: int) -> Outcome:
        """How a call ended that was stopped before this cell."""
        if not self._stop.asked:
            return "timeout"
        return "interrupted" if index else "aborted"

    async def _run_with_retry(self, record: CellRecord) -> bool:
        """Run a cell; once more where the settings allow it and the kernel died. True when it went well."""
        attempt = await self._attempt(record)
        mode = self._options.retry_on_crash
        wanted = mode == "once" or (mode == "safe" and not attempt.began)
        if attempt.died and wanted and not attempt.stopped and await self._have_another_kernel():
            self.report.notes.append(
                "The kernel died and the cell was run again."
                if attempt.began
                else "The kernel had died before the code began; it was run in another one."
            )
            attempt = await self._attempt(record)
        return self._conclude(record, attempt)

    async def _have_another_kernel(self) -> bool:
        """For a second try; where there is none in time, what the first try came to stands."""
        up = False
        try:
            with self._stop.scope(slack=_START_SLACK):
                await self._session.ensure_kernel(self._deadline)
                up = True
        except (DeadlineExceeded, KernelError, TooManyRestarts) as error:
            self.report.notes.append(f"The cell could not be run again: {error.clause}.")
        return up and not self._stop.due

    async def _attempt(self, record: CellRecord) -> Attempt:
        session = self._session
        kernel = await session.ensure_kernel(self._deadline)
        self._tell_news()
        lease = session.door.open(session.key, self._tools, self._callers)
        attempt = Attempt(self._folder_for(session), lease)
        try:
            await self._carry_out(kernel, attempt, record)
        finally:
            attempt.close()
        return attempt

    async def _carry_out(self, kernel: Kernel, attempt: Attempt, record: CellRecord) -> None:
        session = self._session
        record.status = "running"
        self._transcript.begin(record, self._options.cells or len(self.report.records))
        session.journal.begin_cell(record)
        if self._witness is not None:
            self._witness.began(record)
        await self._progress.changed()
        code = record.code.removeprefix("\ufeff")  # A byte order mark of the file that it came from.
        request = ExecuteRequest(code=code, cwd=attempt.folder, inspect=self._options.inspect)
        execution: Execution | None = None
        try:
            with self._stop.scope():  # The kernel may be far away, or busy with what an earlier cell has left.
                execution = await kernel.execute(request)
        except KernelGone:
            ended = kernel.ended if isinstance(kernel, Mortal) else None
            attempt.end(Done("crashed", state="lost", process_exit=ended))
        except KernelError as error:
            attempt.end(Done("disconnected", state="unknown", notes=(error.explain(),)))
        if execution is not None:
            attempt.sent_as(execution.run)
            session.cell_began()
            await self._follow(kernel, execution, attempt, record)
        elif attempt.done is None:
            attempt.stopped = True
            attempt.end(Done("aborted", notes=("The kernel had not taken the cell yet, so that it was not run.",)))
        record.duration_ms = attempt.duration_ms
        await self._look_after(attempt, record)
        self._transcript.end(ok=attempt.ok)

    async def _look_after(self, attempt: Attempt, record: CellRecord) -> None:
        """After a cell its state is kept; a kernel that died comes back, or is cleared away.

        Whatever happens to this call meanwhile.
        """
        self._write_down(attempt)
        with anyio.CancelScope(shield=True):
            if attempt.died:
                await self._recover(attempt.how_it_died(self._options.interrupt_grace))
            elif attempt.done is not None and attempt.done.state == "lost":
                self._session.found_emptied()
                self._tell_news()
                await self._keep_state(attempt, record)
            elif attempt.cut:
                self._session.cell_cut()
                self._tell_unknown()
            elif attempt.untaken:
                self._session.cell_cut()
            else:
                await self._keep_state(attempt, record)

    async def _recover(self, why: str) -> None:
        try:
            news = await self._session.recover(why)
        except KernelStartError as error:
            self.report.state = "unknown"
            text = f"{why}. It cannot be brought back now: {error.clause}. {error.hint} The next call tries again."
            self._notice("[State: unknown]", text)
        else:
            self._tell_news(news)

    def _write_down(self, attempt: Attempt) -> None:
        """The end of the cell, for the journal; a call that is cancelled has time left, and was stopped by somebody."""
        done, session = attempt.done, self._session
        assert done is not None
        outcome = "ok" if attempt.ok else attempt.outcome(done, asked=self._stop.asked or not self._deadline.expired)
        if self._witness is not None:
            self._witness.ended(done)
        session.journal.end_cell(
            done,
            outcome=outcome,
            began=attempt.began,
            exit_code=0 if attempt.ok else exit_code(outcome, done),
            position=session.position + (not attempt.died and not attempt.cut and not attempt.untaken),
            artifact_id=self._transcript.sink.artifact_id,
        )

    async def _keep_state(self, attempt: Attempt, record: CellRecord) -> None:
        """The cell came to its own end; only the last word on whether that was kept is in the report."""
        assert attempt.done is not None
        session = self._session
        changes = attempt.done.variables
        overwritten = session.cell_finished(changes, attempt.reached, record.code, self._options.notebook)
        self._doings.add(session.position, record.index, changes, overwritten)
        goes_on = attempt.ok and record is not self.report.records[-1] and not self._stop.due
        put_off = self._options.put_off_ms if goes_on else 0.0
        self.report.not_kept = await session.keep_after_cell(attempt.duration_ms, put_off_ms=put_off)

    def _tell_news(self, just_now: StateNews | None = None) -> None:
        """What became of the state; also to a caller who is no owner any more, because the session is being closed."""
        news = self._session.take_news(self._options.owner) or just_now
        if news is not None:
            self._told = news if self._told is None else self._told.then(news)
            self.report.state = self._told.state
            self.report.restore = self._told.restore
            self._notice(f"[State: {news.state}]", news.text)
            left = 0 if news.state == "lost" else self._session.position
            self.report.lost_cells += self._doings.forget(left)

    def _tell_unknown(self) -> None:
        """The way to the kernel was lost: nobody knows what it holds now, until it is there again."""
        self.report.state = "unknown"
        self._notice("[State: unknown]", "The connection to the kernel was lost. The next call looks for it.")

    def _notice(self, state: str, text: str) -> None:
        subject = f"{self._options.subject}: " if self._options.subject else ""
        self.report.notices.append(f"{state} {subject}{text}")

    def _folder_for(self, session: Session) -> str | None:
        """The folder to go to before the cell; None if that is where the session was sent last."""
        return None if self._options.cwd == session.folder else self._options.cwd

    async def _follow(self, kernel: Kernel, execution: Execution, attempt: Attempt, record: CellRecord) -> None:
        """Take events until the cell is done; when the call is to stop, see to it that the cell settles first."""
        try:
            with self._stop.scope():
                while attempt.done is None:
                    await self._take(await self._progress.watching(execution.receive), attempt)
            if attempt.done is None:
                with anyio.CancelScope(shield=True):
                    await self._settle(kernel, execution, attempt)
        except BaseException:
            # The task is cancelled, or a listener failed: nobody wants the rest, but the cell must not run on.
            self._progress.mute()
            with anyio.CancelScope(shield=True):
                await self._settle(kernel, execution, attempt)
                self._transcript.end(ok=False)
                await self._look_after(attempt, record)
            raise

    async def _take(self, events: Sequence[AnyEvent], attempt: Attempt) -> None:
        for event in events:
            if isinstance(event, Done):
                attempt.end(event)
            elif isinstance(event, Started):
                attempt.began = True
            else:
                attempt.asked_for_input |= isinstance(event, InputRequested)
                self._transcript.take(event)
                self._session.journal.take(event)
                if self._witness is not None:
                    self._witness.took(event)
        await self._progress.output()

    async def _settle(self, kernel: Kernel, execution: Execution, attempt: Attempt) -> None:
        """Interrupt, twice if need be; what has not settled after the grace is killed. `Done` comes in any case."""
        attempt.stopped = True
        self._session.cell_stopping()
        for _ in range(2):
            if attempt.done is not None:
                return
            with anyio.move_on_after(self._options.interrupt_grace / 2):
                await kernel.interrupt()  # Which may take its time where the kernel is far away, or not to be reached.
                while attempt.done is None:
                    await self._take(await execution.receive(), attempt)
        if attempt.done is None:
            attempt.killed = True
            await kernel.kill()
            while attempt.done is None:
                await self._take(await execution.receive(), attempt)

    def _conclude(self, record: CellRecord, attempt: Attempt) -> bool:
        done, report = attempt.done, self.report
        assert done is not None
        record.execution_count = done.execution_count
        report.notes += done.notes
        if done.process_exit is not None and not attempt.killed and done.process_exit.detail:
            report.notes.append(done.process_exit.detail)
        record.status = "complete" if attempt.ok else "error"
        record.exit_code = 0
        if attempt.ok:
            return True
        outcome = attempt.outcome(done, asked=self._stop.asked)
        record.exit_code = exit_code(outcome, done)
        if outcome == "error" and record.index in self._options.may_fail:
            report.expected.append(record.index)
            return True
        report.outcome = outcome
        report.error = report.error or self._transcript.error
        return False


def _begun(name: str) -> str:
    """A name as the beginning of a sentence."""
    return name[:1].upper() + name[1:]
