"""The action `output`: a whole output in parts that a reader can hold, from an artifact or from a job."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio
import msgspec
from msgspec.structs import replace

from pisces.errors import ArtifactError, InvalidCall
from pisces.kernels.deadline import Deadline
from pisces.model.mime import JPEG, PNG
from pisces.model.results import TextBlock, ToolResult
from pisces.model.sessions import SessionDetails
from pisces.output.artifact_text import LineRange
from pisces.output.artifacts import ArtifactStore, parse_lines, parse_uri
from pisces.output.images import for_model
from pisces.output.notice import format_size, truncation_notice
from pisces.output.search import Searched, search
from pisces.sessions.jobs import Job
from pisces.tools.base import Services
from pisces.tools.job_text import job_line
from pisces.tools.session_result import told


class GoingOn(msgspec.Struct, frozen=True):
    """How a reader gets at what an answer leaves out."""

    by_lines: str
    """With `{lines}` for those that come next."""
    in_line: str
    """Within a line that is too long, with `{id}` for the artifact's id."""


_PICTURES: Final = {".png": PNG, ".jpg": JPEG}
_IN_CELL: Final = "use `search`, or output({id}) in a cell"
_BY_PARAMETERS: Final = GoingOn('go on with lines: "{lines}"', _IN_CELL)


class OutputPart:
    """Which part of an output is wanted, and until when a search for it may take.

    Raises `InvalidCall` for lines that are misspelt; a search that is no regular expression is found by the search.
    """

    def __init__(self, lines: str | None, search: str | None, deadline: Deadline) -> None:
        try:
            self.lines = None if lines is None else parse_lines(lines)
        except ArtifactError as error:
            raise InvalidCall(error.explain()) from None
        self.search = search
        self.deadline = deadline

    @property
    def whole(self) -> bool:
        """Whether nothing was said of lines or a search."""
        return self.lines is None and self.search is None


async def artifact_output(
    services: Services, address: str | int, part: OutputPart, *, going_on: GoingOn = _BY_PARAMETERS
) -> ToolResult:
    """Some of an artifact's text, or the picture that it is.

    `address` is its number, or what a notice named (`artifact://3:100-200`). Raises `InvalidCall` for a search that is
    no regular expression.
    """
    ref = parse_uri(address if isinstance(address, str) and "://" in address else f"artifact://{address}")
    lines = part.lines or ref.lines
    path = services.artifacts.path(ref.id)
    if path.suffix in _PICTURES and lines is None and part.search is None:
        return await anyio.to_thread.run_sync(_picture, path, ref.id)
    # From a line on, an artifact is read as far as one read goes: one that is too large for it begins all the same.
    wanted = lines or (LineRange(1) if part.search is None else None)
    text = await _read(services.artifacts, ref.id, wanted, part)
    most = services.settings.output.max_bytes
    going_on = replace(going_on, in_line=going_on.in_line.format(id=ref.id))
    shown = _bounded(text, lines, most, search=part.search is not None, going_on=going_on)
    return told(shown or "(empty)", SessionDetails(action="output", artifact_id=ref.id))


async def job_output(services: Services, job: Job, part: OutputPart, read_with: str) -> ToolResult:
    """What a job has said so far, or said: shown as a result shows it, or some lines of all of it."""
    transcript, info, ended = job.subject.transcript, job.info(), not job.running
    dump = transcript.sink.dump()
    details = SessionDetails(action="output", job=info, artifact_id=dump.artifact_id or "")
    if part.whole:
        text = dump.text.removesuffix("\n") + truncation_notice(dump, read_with)
    elif dump.artifact_id is not None:
        text = await _read(services.artifacts, dump.artifact_id, part.lines, part)
    else:
        text = await _part_of(dump.text.splitlines(), job.id, part)
    if not part.whole:
        going_on = replace(_BY_PARAMETERS, in_line=_IN_CELL.format(id=dump.artifact_id))
        most = services.settings.output.max_bytes
        text = _bounded(text, part.lines, most, search=part.search is not None, going_on=going_on)
    job.told = job.told or ended
    return told(f"[{job_line(info)}]\n{text or '(no output)'}", details)


def _picture(path: Path, number: str) -> ToolResult:
    """A picture as a model can take it, and where it is as it came."""
    data, mime_type = path.read_bytes(), _PICTURES[path.suffix]
    text = f"Artifact {number}: {mime_type}, {format_size(len(data))}, in {path}"
    picture = for_model(base64.b64encode(data).decode("ascii"), mime_type)
    return ToolResult(content=[TextBlock(text), picture], details=SessionDetails(action="output", artifact_id=number))


async def _read(artifacts: ArtifactStore, number: str, lines: LineRange | None, part: OutputPart) -> str:
    if part.search is not None:
        return await artifacts.search(number, part.search, lines=lines, seconds=part.deadline.remaining())
    return await anyio.to_thread.run_sync(lambda: artifacts.read(number, lines=lines))


async def _part_of(all_lines: Sequence[str], name: str, part: OutputPart) -> str:
    """The lines that are wanted, of a text that is small enough to have no artifact."""
    first, last = (part.lines.first, part.lines.last) if part.lines else (1, None)
    if first > max(1, len(all_lines)):
        raise ArtifactError(f"{name} has written {len(all_lines)} lines; line {first} is past its end.")
    numbered = list(enumerate(all_lines, 1))[first - 1 : last]
    if part.search is None:
        return "\n".join(line for _, line in numbered)
    return await search(part.search, Searched(name=name, numbered=numbered), seconds=part.deadline.remaining())


def _bounded(text: str, lines: LineRange | None, most: int, *, search: bool, going_on: GoingOn) -> str:
    """As much of the text as a result shows, from its beginning, and how to get at the rest."""
    data = text.encode("utf-8")
    if len(data) <= most:
        return text.removesuffix("\n")
    end = data.rfind(b"\n", 0, most)
    shown = data[: most if end < 0 else end].decode("utf-8", "ignore")
    if search:
        rest = "more lines match: narrow the search, or give `lines` too"
    elif end < 0:
        rest = f"the line goes on: {going_on.in_line}"
    else:
        first = 1 if lines is None else lines.first
        following = LineRange(first + shown.count("\n") + 1, None if lines is None else lines.last)
        rest = going_on.by_lines.format(lines=following)
    return f"{shown}\n[…{format_size(most)} shown; {rest}…]"
