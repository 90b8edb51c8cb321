"""Running one command of the shell within its deadline; what it says goes the way that the output of cells goes."""

import codecs
import time
from collections.abc import Sequence
from typing import Final

import anyio

from pisces.errors import PiscesError
from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, Stream
from pisces.model.results import Outcome
from pisces.sessions.progress import Progress
from pisces.sessions.report import RunReport
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.tools.bash_process import CommandProcess, LeftProcess, Order

_GRACE: Final = 2.0
_TIMED_OUT: Final = 124
_INTERRUPTED: Final = 130


class CommandRun:
    """One command, from its start to its report."""

    def __init__(
        self,
        process: CommandProcess,
        record: CellRecord,
        transcript: Transcript,
        *,
        stop: StopSignal,
        progress: Progress,
        lasting: bool,
    ) -> None:
        """`lasting` unless the runtime ends with the call, and what the command leaves with it."""
        self._process = process
        self._record = record
        self._transcript = transcript
        self._stop = stop
        self._progress = progress
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lasting = lasting
        self._over = False
        self._killed = False

    async def run(self, order: Order) -> RunReport:
        """Run it to its end, or until it is stopped. Raises `PiscesError` when it could not be begun."""
        record, report = self._record, RunReport(records=[self._record])
        record.status = "running"
        self._transcript.begin(record, 1)
        began = time.perf_counter()
        await self._progress.changed()
        try:
            with self._stop.scope():
                await self._process.run(order)
                await self._follow()
            if not self._over:
                report.outcome = "interrupted" if self._stop.asked else "timeout"
                with anyio.CancelScope(shield=True):
                    await self._settle()
        except BaseException:
            # The task is cancelled, or a listener failed: nobody wants the rest, but the command must not run on.
            self._progress.mute()
            with anyio.CancelScope(shield=True):
                await self._settle()
                self._transcript.end(ok=False)
            raise
        record.duration_ms = round((time.perf_counter() - began) * 1000, 3)
        self._conclude(report)
        await self._progress.changed()
        return report

    async def _follow(self) -> None:
        while not self._over:
            for event in await self._progress.watching(self._receive):
                self._transcript.take(event)
            await self._progress.output()

    async def _receive(self) -> Sequence[AnyEvent]:
        data = await self._process.read()
        self._over = not data
        text = self._decoder.decode(data, self._over)
        return [Stream("stdout", text)] if text else []

    async def _settle(self) -> None:
        """Interrupt it; after the grace, or when the shell has ended, end all that there is of it."""
        if self._process.began:
            self._process.interrupt()
            with anyio.move_on_after(_GRACE) as grace:
                await self._follow()
            self._killed = grace.cancelled_caught
        await self._process.kill()
        await self._follow()

    def _conclude(self, report: RunReport) -> None:
        process, record = self._process, self._record
        if process.refusal:
            self._transcript.end(ok=False)
            raise PiscesError(f"The command could not be run: {process.refusal}")
        code = process.exit_code
        assert code is not None
        if report.outcome == "ok" and code:
            report.outcome = "error"
        record.exit_code = _code(report.outcome, code)
        record.status = "error" if record.exit_code else "complete"
        self._transcript.end(ok=report.outcome == "ok")
        if self._killed:
            report.notes.append(f"It did not stop within {_GRACE:g} seconds of being interrupted, and was killed.")
        elif report.outcome in {"ok", "error"} and process.left:
            report.notes.append(_still_running(process.left, "runtime" if self._lasting else "call"))


def _code(outcome: Outcome, code: int) -> int:
    return {"timeout": _TIMED_OUT, "interrupted": _INTERRUPTED}.get(outcome, code)


def _still_running(left: Sequence[LeftProcess], owner: str) -> str:
    names = ", ".join(f"{process.command} (pid {process.pid})" for process in left)
    return f"Still running: {names}. {'It ends' if len(left) == 1 else 'They end'} with this {owner}."
