"""From the report of a run to the result of a call: text for the model first, then what is rich."""

import json
from collections.abc import Callable, Sequence

import anyio
import msgspec
from msgspec.structs import replace

from pisces.kernels.deadline import Deadline
from pisces.model.cells import CellRecord
from pisces.model.kernel_info import KernelInfo
from pisces.model.mime import SVG
from pisces.model.results import Block, Details, TextBlock, ToolResult
from pisces.output.images import for_model
from pisces.output.notice import listed, truncation_notice
from pisces.output.sink import Dump
from pisces.sessions.jobs import Job
from pisces.sessions.report import RunReport
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import Transcript
from pisces.sessions.variables import Dropped
from pisces.tools.job_text import finished_notice, running_notice

NO_INTERPRETER = "no interpreter had answered yet"
"""Why a call that was stopped early did nothing."""
_JSON_CHARACTERS = 8000
_NAMED = 20
"""How many of the variables that a reset dropped are named."""
_QUICK_IMAGE = 200_000
"""Base64 characters below which a picture is looked at right here; larger ones may need scaling, in a thread."""


class CallEnd(msgspec.Struct, frozen=True):
    """Where a call ended."""

    session: str
    kernel: KernelInfo | None
    seconds: float
    """How long it was given: what a timeout names."""


async def cells_result(
    report: RunReport,
    transcript: Transcript,
    end: CallEnd,
    read_with: str,
    *,
    closing: Callable[[RunReport], list[str]] | None = None,
) -> ToolResult:
    """The result of a call that ran, or was stopped before it could.

    `closing` says what failed, and what follows from that, in place of the words of the `python` tool.
    """
    dump = transcript.sink.dump()
    before, after = report.notices, _closing(report, end.seconds, closing or _cell_sentences)
    text = "\n\n".join(
        part for part in ("\n".join(before), _output(report, transcript, dump, read_with), "\n".join(after)) if part
    )
    content: list[Block] = [TextBlock(text)]
    for image in transcript.images:
        if image.mime_type != SVG:
            if len(image.data) < _QUICK_IMAGE:
                content.append(for_model(image.data, image.mime_type))
            else:
                content.append(await anyio.to_thread.run_sync(for_model, image.data, image.mime_type))
    content += [_json_block(number, value) for number, value in enumerate(transcript.json_outputs, 1)]
    details = _details(report, transcript, end, dump)
    details.notices = before + after
    return ToolResult(content=content, details=details, is_error=details.is_error)


def running_result(job: Job, report: RunReport, news: Sequence[str], deadline: Deadline, read_with: str) -> ToolResult:
    """What can be said of a call at the moment it becomes a job. The outcome is that of the call: it was accepted."""
    transcript, session = job.subject.transcript, job.subject.session
    transcript.refresh()
    dump = transcript.sink.dump()
    before = report.notices
    info = job.info()
    after = [running_notice(info, deadline.seconds) if job.running else finished_notice(info), *news]
    output = dump.text.removesuffix("\n") + truncation_notice(dump, read_with)
    text = "\n\n".join(part for part in ("\n".join(before), output, "\n".join(after)) if part)
    details = Details(
        cells=[_copy(record) for record in report.records],
        session=session.key.id,
        kernel=session.info(report.state, report.restore),
        truncation=dump.truncation,
        artifact_id=dump.artifact_id,
        full_output_path=transcript.artifact_path(dump.artifact_id),
        notices=before + after,
        job=info,
    )
    return ToolResult(content=[TextBlock(text)], details=details)


def stopped_result(records: list[CellRecord], stop: StopSignal, deadline: Deadline, why: str) -> ToolResult:
    """The result of a call that was stopped before it had a session."""
    report = RunReport(records=records, outcome="aborted" if stop.asked else "timeout")
    sentences = [*_why_it_ended(report, deadline.seconds), f"Nothing was run: {why}."]
    details = Details(cells=report.records, outcome=report.outcome, cancelled=True, notices=sentences, is_error=True)
    return ToolResult(content=[TextBlock("\n".join(sentences))], details=details, is_error=True)


def _details(report: RunReport, transcript: Transcript, end: CallEnd, dump: Dump) -> Details:
    return Details(
        cells=report.records,
        json_outputs=transcript.json_outputs,
        images=transcript.images,
        status_events=transcript.status_events,
        session=end.session,
        kernel=end.kernel,
        outcome=report.outcome,
        cancelled=report.outcome in ("timeout", "interrupted", "aborted"),
        stdin_requested=transcript.stdin_requested,
        variables=report.variables,
        truncation=dump.truncation,
        artifact_id=dump.artifact_id,
        full_output_path=transcript.artifact_path(dump.artifact_id),
        error=report.error,
        is_error=report.outcome != "ok",
    )


def _copy(record: CellRecord) -> CellRecord:
    """The record as it is now: the job goes on changing its own."""
    return replace(record, status_events=list(record.status_events))


def _output(report: RunReport, transcript: Transcript, dump: Dump, read_with: str) -> str:
    output = dump.text.removesuffix("\n") + truncation_notice(dump, read_with)
    if not output and report.outcome == "ok":
        output = "(no text output)" if transcript.images or transcript.json_outputs else "(no output)"
    return output


def _closing(report: RunReport, seconds: float, failure: Callable[[RunReport], list[str]]) -> list[str]:
    not_kept = [report.not_kept] if report.not_kept else []
    return [*_why_it_ended(report, seconds), *report.notes, *not_kept, *failure(report)]


def _why_it_ended(report: RunReport, seconds: float) -> list[str]:
    match report.outcome:
        case "timeout":
            return [f"Command timed out after {seconds:g} seconds"]
        case "interrupted":
            return ["Command was interrupted"]
        case "aborted":
            return ["Command was cancelled before the code began"]
        case _:
            return []


def dropped_sentence(dropped: Dropped) -> str:
    """What a reset took out of the session, and the way back."""
    names = dropped.names
    count = "1 variable" if len(names) == 1 else f"{len(names)} variables"
    what = f"{count}: {listed(names, _NAMED)}" if names else "the state"
    unknown = "" if dropped.complete else " There may have been more variables." if names else ""
    return f"The reset dropped {what}.{unknown} {_way_back(dropped)}"


def _way_back(dropped: Dropped) -> str:
    if dropped.undo_steps:
        return f"`undo` with steps: {dropped.undo_steps} takes it back."
    return f"It cannot be taken back: {dropped.kept_not or 'what was kept of it is gone'}."


def _cell_sentences(report: RunReport) -> list[str]:
    dropped = [] if report.dropped is None else [dropped_sentence(report.dropped)]
    return [*dropped, *_failure(report)]


def _failure(report: RunReport) -> list[str]:
    failed = [record for record in report.records if record.status == "error"]
    if not failed:
        return []
    if len(report.records) == 1:
        return [f"Command exited with code {failed[0].exit_code}"]
    if len(failed) > 1:
        codes = ", ".join(f"cell {record.index + 1} (exit code {record.exit_code})" for record in failed)
        verb = "failed" if all(record.exit_code for record in failed) else "failed or exited"
        return [f"{len(failed)} cells {verb}: {codes}."]
    number = failed[0].index + 1
    return [f"Cell {number} {how_it_failed(failed[0])}. {_what_to_run(report, number, failed[0])}"]


def how_it_failed(record: CellRecord) -> str:
    """What a cell did that ended the run, after its name: `sys.exit(0)` is no failure."""
    return f"failed (exit code {record.exit_code})" if record.exit_code else "exited with code 0"


def _what_to_run(report: RunReport, number: int, record: CellRecord) -> str:
    """What is left of the cells before the one that failed, and what follows from that."""
    lost = sorted({index + 1 for index in report.lost_cells if index < number - 1})
    if number == 1 and report.state != "kept":
        return "Fix only cell 1."
    if lost and len(lost) == number - 1:
        return "The state of the cells before it is lost: run them again."
    if len(lost) == 1:
        return f"What cell {lost[0]} did is lost too: run it again."
    if lost:
        in_a_row = len(lost) == lost[-1] - lost[0] + 1
        which = f"{lost[0]} to {lost[-1]}" if in_a_row else ", ".join(map(str, lost))
        return f"What cells {which} did is lost too: run them again."
    if not record.exit_code:
        return "Earlier cells succeeded; their state persists." if number > 1 else "Its state persists."
    return f"Earlier cells succeeded; their state persists. Fix only cell {number}."


def _json_block(number: int, value: object) -> TextBlock:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    if len(text) > _JSON_CHARACTERS:
        text = f"{text[:_JSON_CHARACTERS]}\n[… {len(text) - _JSON_CHARACTERS} more characters of JSON]"
    return TextBlock(f"display[{number}]:\n{text}")
