"""The actions on jobs: `jobs`, `wait` and `cancel`."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio
from msgspec.structs import replace

from pisces.kernels.deadline import Deadline
from pisces.model.results import Block, TextBlock, ToolResult, Update
from pisces.model.sessions import SessionAction, SessionDetails
from pisces.output.notice import truncation_notice
from pisces.sessions.beside import beside
from pisces.sessions.jobs import Job
from pisces.sessions.progress import OnUpdate
from pisces.tools.base import CallContext
from pisces.tools.job_text import job_line
from pisces.tools.python_background import unless_aborted
from pisces.tools.session_result import told

_PACE: Final = 0.25
"""Seconds between two looks at a job for those who hear how it goes."""


def list_jobs(jobs: Sequence[Job]) -> ToolResult:
    """Every job, a line each."""
    lines = [job_line(job.info()) for job in jobs]
    for job in jobs:
        job.told = job.told or not job.running
    details = SessionDetails(action="jobs", jobs=[job.info() for job in jobs])
    return told("\n".join(lines) or "There are no jobs.", details)


async def wait_for(job: Job, deadline: Deadline, context: CallContext) -> ToolResult:
    """The result of the job when it has ended; when the deadline comes first, how far it is. An abort ends the wait."""
    ended = job.ended.wait
    if context.on_update is not None and job.running:
        ended = partial(beside, partial(_tell, job, context.on_update), ended)
    with deadline.scope() as scope:
        await unless_aborted(context.abort, scope.cancel, ended)
    return _as_it_is(job, "wait", context)


async def cancel(job: Job, deadline: Deadline, context: CallContext) -> ToolResult:
    """Stop the job as its own caller could, and wait until it has settled."""
    if job.running:
        job.subject.stop.ask()
        with deadline.scope():
            await job.ended.wait()
    return _as_it_is(job, "cancel", context)


async def _tell(job: Job, listener: OnUpdate) -> None:
    """Say how the job goes, whenever there is something new: its own listener left when it became a job."""
    before: tuple[object, ...] = ()
    while True:
        records, tail = job.subject.records, job.subject.transcript.sink.tail()
        if (now := (tail, *(record.status for record in records))) != before:
            before = now
            cells = tuple(replace(record, status_events=list(record.status_events)) for record in records)
            if (waiting := listener(Update(tail=tail, cells=cells))) is not None:
                await waiting
        await anyio.sleep(_PACE)


def _as_it_is(job: Job, action: SessionAction, context: CallContext) -> ToolResult:
    info = job.info()
    details = SessionDetails(action=action, session=info.session, job=info)
    if job.result is None:
        dump = job.subject.transcript.sink.dump()
        output = dump.text.removesuffix("\n") + truncation_notice(dump, context.read_with)
        how = "Being stopped" if job.subject.stop.asked else "Still running"
        return told(f"[{how}: {job_line(info)}]\n{output or '(no output yet)'}", details)
    job.told = True
    details.result = job.result.details
    details.is_error = job.result.is_error
    content: list[Block] = [TextBlock(f"[{job_line(info)}]\n{job.result.text}"), *job.result.content[1:]]
    return ToolResult(content=content, details=details, is_error=job.result.is_error)
