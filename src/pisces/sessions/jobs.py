"""Jobs: calls that go on without their caller, in a task of the runtime, until they end or are stopped.

Above are the tools, which say what a job runs; a job knows only how to look at it, how to stop it, and what it came
to. Every job ends with its session, and all of them with the runtime.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Final

import anyio
import msgspec
from anyio.abc import TaskGroup

from pisces.errors import SessionError
from pisces.model.cells import CellRecord
from pisces.model.results import Details, ImageBlock, JobInfo, Outcome, TextBlock, ToolResult
from pisces.sessions.session import Session
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript

KEPT_JOBS: Final = 100
KEPT_BYTES: Final = 256 << 20
"""How many finished jobs are kept, and how much their results may hold together; the newest is kept in any case."""
_TITLE: Final = 60

Work = Callable[[], Awaitable[ToolResult]]

_log = logging.getLogger(__name__)


class JobSubject(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is about: who asked for it, where it runs, how it goes and how to stop it."""

    session: Session
    owner: str
    stop: StopSignal
    records: Sequence[CellRecord]
    """Its cells as they are now."""
    transcript: Transcript
    """What they have said so far; it can be looked at at any time."""
    shared: bool = True
    """False when the session is the job's own, and ends with it."""


class Job:
    """One call that may go on without its caller. It has an id once it does."""

    def __init__(self, subject: JobSubject) -> None:
        self.id = ""
        self.subject = subject
        self.ended = anyio.Event()
        self.told = False
        """Whether anybody has heard that it ended."""
        self.failure: Exception | None = None
        """What the work raised: a fault of a listener or of ours, never of a cell."""
        self.result: ToolResult | None = None
        """What it came to; None while it runs."""
        self.finished_at = 0.0
        self._began = time.time()
        self._clock = time.monotonic()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.result is None

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return (time.monotonic() if self.running else self.finished_at) - self._clock

    def info(self) -> JobInfo:
        """The job, for a reader."""
        records = self.subject.records
        return JobInfo(
            id=self.id,
            session=self.subject.session.key.id,
            state="running" if self.running else "finished",
            title=_title(records[0]),
            cells=len(records),
            cells_done=sum(record.status in ("complete", "error") for record in records),
            started=datetime.fromtimestamp(self._began, UTC).isoformat(timespec="seconds"),
            seconds=round(self.seconds, 3),
            outcome=None if self.result is None else _outcome(self.result),
        )

    async def run(self, work: Work) -> None:
        """Do the work to its end; the body of the job's task."""
        result = _refusal("The runtime was closed before the job had ended")
        try:
            result = await work()
        except Exception as error:  # noqa: BLE001 - whoever waits for the job raises it; else it is logged and told
            self.failure = error
            result = _refusal(f"The call ended by an error of Pisces or of a listener: {error!r}")
        finally:
            self.finished_at = time.monotonic()
            self.result = result
            self.ended.set()


class Jobs:
    """The jobs of a runtime. Their tasks live in the runtime's task group."""

    def __init__(self, tasks: TaskGroup, *, leave: Callable[[str], Awaitable[None]]) -> None:
        """`leave` gives up the sessions that are held in a job's name."""
        self._tasks = tasks
        self._leave = leave
        self._numbers = count(1)
        self._jobs: dict[str, Job] = {}
        """Those that went to the background, in the order in which they did."""

    def start(self, work: Work, subject: JobSubject) -> Job:
        """Begin the work in a task of its own. Nobody sees the job before it is sent to the background."""
        job = Job(subject)
        self._tasks.start_soon(self._run, job, work)
        return job

    def send_to_background(self, job: Job) -> None:
        """Give it an id: its caller goes on, and whoever knows the id can ask for it from now on."""
        job.id = f"job-{next(self._numbers)}"
        self._jobs[job.id] = job
        if not job.running:
            self._put_away(job)

    def get(self, job_id: str) -> Job:
        """The job of this id. Raises `SessionError` with those there are."""
        job = self._jobs.get(job_id)
        if job is None:
            there = ", ".join(self._jobs) or "none"
            raise SessionError(
                f"There is no job {job_id!r}. Jobs: {there}", hint=f"The newest {KEPT_JOBS} finished ones are kept."
            )
        return job

    def listed(self, session: Session | None = None) -> list[Job]:
        """Every job, or those of one session, oldest first."""
        return [job for job in self._jobs.values() if session is None or job.subject.session.key == session.key]

    def at_work_in(self, session: Session) -> Job | None:
        """The job that has its turn in this session."""
        stop = session.active_stop
        return next((job for job in self._jobs.values() if job.running and job.subject.stop is stop), None)

    def take_news(self, session: Session) -> list[Job]:
        """Jobs that have finished and that nobody has heard of yet, for a call in this session; each is told once.

        One that had a session of its own is told to the next call in any.
        """
        news = [
            job
            for job in self._jobs.values()
            if not (job.running or job.told) and (job.subject.session.key == session.key or not job.subject.shared)
        ]
        for job in news:
            job.told = True
        return news

    def hold_sessions_of(self, owner: str) -> None:
        """This owner is about to leave: a session in which one of its jobs runs stays until the job has ended."""
        for job in self._jobs.values():
            if job.running and job.subject.owner == owner:
                job.subject.session.owners[job.id] = False

    async def _run(self, job: Job, work: Work) -> None:
        await job.run(work)
        if job.id:
            self._put_away(job)
            if job.id in job.subject.session.owners:
                await self._leave(job.id)

    def _put_away(self, ended: Job) -> None:
        """Keep the job that has ended, and forget the oldest where there are too many."""
        if ended.failure is not None:
            _log.error("%s ended by an error", ended.id, exc_info=ended.failure)
        finished = [(job, job.result) for job in self._jobs.values() if job.result is not None]
        finished.sort(key=lambda pair: pair[0].finished_at)
        held = sum(_size(result) for _, result in finished)
        while len(finished) > KEPT_JOBS or (held > KEPT_BYTES and len(finished) > 1):
            oldest, result = finished.pop(0)
            held -= _size(result)
            del self._jobs[oldest.id]


def _title(first: CellRecord) -> str:
    """What a job runs, on one short line."""
    text = first.title or next((line.strip() for line in first.code.splitlines() if line.strip()), "")
    return text if len(text) <= _TITLE else text[: _TITLE - 1] + "…"


def _outcome(result: ToolResult) -> Outcome:
    return result.details.outcome if isinstance(result.details, Details) else "error"


def _refusal(why: str) -> ToolResult:
    return ToolResult(content=[TextBlock(f"Error: {why}")], is_error=True)


def _size(result: ToolResult) -> int:
    """About how many bytes a result holds: its texts and its pictures, which are in it twice."""
    size = sum(len(block.data if isinstance(block, ImageBlock) else block.text) for block in result.content)
    if isinstance(result.details, Details):
        size += sum(len(image.data) for image in result.details.images)
        size += sum(len(record.output) for record in result.details.cells)
    return size
