"""One call of `read`: text with line numbers, notebooks as the text of their cells, pictures, artifacts."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from pisces.errors import FileError, InvalidCall, PiscesError
from pisces.files.encoding import picture_kind
from pisces.files.line_window import Limits
from pisces.files.seen import ALL
from pisces.files.selector import missing_from
from pisces.files.text import TextPart, first_bytes, part_of, read_part
from pisces.files.version import FileVersion
from pisces.files.whole_file import read_whole
from pisces.kernels.deadline import Deadline
from pisces.model.files import LineSpan, ReadDetails
from pisces.model.results import TextBlock, ToolResult
from pisces.output.artifacts import parse_uri
from pisces.output.notice import format_size
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.files_notebook import Part, TextView, view_of
from pisces.tools.files_params import ReadParams
from pisces.tools.files_place import ARTIFACT, FilePlace, limits_of, place_of
from pisces.tools.schema import parse_params
from pisces.tools.session_output import GoingOn, OutputPart, artifact_output

_LARGEST_PICTURE: Final = 64 * 1024 * 1024


async def call_read(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Read what was asked for. Raises `InvalidCall` for wrong parameters; what cannot be read is in the result."""
    parsed = parse_params(params, ReadParams)
    try:
        if parsed.path.startswith(ARTIFACT):
            return await _artifact(services, parsed.path, context.reader)
        return await anyio.to_thread.run_sync(_file, services, parsed.path, context)
    except InvalidCall:
        raise
    except PiscesError as error:
        return error_result(error.explain())


async def _artifact(services: Services, address: str, reader: str) -> ToolResult:
    number = parse_uri(address).id
    going_on = GoingOn(
        f"go on with: read {ARTIFACT}{number}:{{lines}}",
        "search in it with the session tool, or use output({id}) in a cell",
    )
    found = await artifact_output(services, address, OutputPart(None, None, Deadline.never()), going_on=going_on)
    last_line = found.text.rpartition("\n")[2]
    if last_line.startswith("[…") and last_line.endswith("…]"):
        services.seen.noticed(reader, last_line)
    details = ReadDetails(path=f"{ARTIFACT}{number}", kind="artifact", artifact_id=number)
    return ToolResult(content=found.content, details=details)


def _file(services: Services, given: str, context: CallContext) -> ToolResult:
    place, limits = place_of(services, given), limits_of(services, context)
    note = partial(services.seen.note, context.reader, place.real)
    view = view_of(place.path, place.selection)
    if view is None and (kind := _kind_of_picture(place)) is not None:
        result, version = _picture(place, kind)
        note(version, lines=ALL)
        return result
    if view is not None:
        part, version, parts = _viewed(place, view, limits)
    else:
        part, version = read_part(place.path, place.given, place.selection, limits)
        parts = ()
    window = part.window
    known = note(version, lines=window.whole, total=window.total_lines, of_view=view is not None)
    if parts:
        note(version, of_view=True, cells=[part.key for part in parts if not missing_from(known, part.lines)])
    if part.notice:
        services.seen.noticed(context.reader, part.notice)
    details = _text_details(place.path, part, version)
    if view is not None:
        details.kind = "notebook"
    return ToolResult(content=[TextBlock(part.text)], details=details)


def _viewed(place: FilePlace, view: TextView, limits: Limits) -> tuple[TextPart, FileVersion, Sequence[Part]]:
    data, version = read_whole(place.path)
    text, parts = view.view(data, place.given)
    return part_of(text, place.given, place.selection, limits), version, parts


def _text_details(path: Path, part: TextPart, version: FileVersion) -> ReadDetails:
    window = part.window
    return ReadDetails(
        path=str(path),
        kind="text",
        bytes=version.size,
        lines=window.total_lines,
        shown=[LineSpan(span.first, span.last or span.first) for span in window.shown],
        truncated=window.full or window.clamped > 0,
        encoding=part.encoding.name,
    )


def _kind_of_picture(place: FilePlace) -> str | None:
    """The kind of a picture that is to be shown as one: with a selector it is taken for text, and refused.

    Raises `FileError` for one that is too large.
    """
    if str(place.selection):
        return None
    head, size = first_bytes(place.path)
    kind = picture_kind(head)
    if kind is not None and size > _LARGEST_PICTURE:
        raise FileError(
            f"{place.given} is a {kind} of {format_size(size)}, which is too large to show.",
            hint=f"Pictures up to {format_size(_LARGEST_PICTURE)} are shown: make it smaller with Python.",
        )
    return kind


def _picture(place: FilePlace, kind: str) -> tuple[ToolResult, FileVersion]:
    from pisces.files.pictures import picture  # What reads pictures is loaded when one is met.

    data, version = read_whole(place.path)
    found = picture(data, kind, place.given)
    frames = f", the first of {found.frames} frames" if found.frames > 1 else ""
    size = format_size(version.size)
    text = f"{place.given}: {found.mime_type}, {found.width} x {found.height} pixels, {size}{frames}"
    details = ReadDetails(
        path=str(place.path),
        kind="image",
        bytes=version.size,
        mime_type=found.mime_type,
        width=found.width,
        height=found.height,
    )
    return ToolResult(content=[TextBlock(text), found.block], details=details), version
