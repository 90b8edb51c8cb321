"""One call of `edit`: an exact text for another, in a file or in the text of a notebook's cells."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from anyio.from_thread import check_cancelled

from pisces.errors import FileError, FileMissing, InvalidCall, PiscesError
from pisces.files.exact_edit import MAX_TEXT, Edited, replaced
from pisces.files.selector import written
from pisces.files.unfinished import Piece
from pisces.files.whole_file import LockedFile, locked
from pisces.model.files import EditDetails, LineSpan
from pisces.model.results import TextBlock, ToolResult
from pisces.output.notice import format_size
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.files_notebook import check_of, view_of
from pisces.tools.files_params import EditParams, check_edit
from pisces.tools.files_place import FilePlace, whole_place_of
from pisces.tools.schema import parse_params


async def call_edit(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Edit the file. Raises `InvalidCall` for wrong parameters; what cannot be edited is in the result."""
    parsed = parse_params(params, EditParams)
    check_edit(parsed)
    try:
        # A thread is waited for, so a call that is cancelled leaves either file, whole.
        return await anyio.to_thread.run_sync(_edit, services, parsed, context.owner)
    except InvalidCall:
        raise
    except PiscesError as error:
        return error_result(error.explain())


def _edit(services: Services, params: EditParams, owner: str) -> ToolResult:
    place = whole_place_of(services, params.path, "edit")
    with locked(place.path, while_waiting=check_cancelled) as file:
        if file.version is None:
            raise FileMissing(f"File not found: {place.path}", hint="Use `write` to make it.")
        edited, pieces, notes = _changed(place, file, params)
        before, version = file.version, file.replace(pieces)
        if services.seen.version(owner, file.path) == before:  # Else there is something in it that was not seen.
            services.seen.wrote(owner, file.path, version)
    details = EditDetails(
        path=str(place.path),
        kind="text" if view_of(place.path, place.selection) is None else "notebook",
        replacements=edited.count,
        changed=[LineSpan(span.first, span.last or span.first) for span in edited.spans],
        bytes=version.size,
        notes=notes,
    )
    return ToolResult(content=[TextBlock(_told(place.given, edited, notes))], details=details)


def _changed(place: FilePlace, file: LockedFile, params: EditParams) -> tuple[Edited, Sequence[Piece], list[str]]:
    """What the edit comes to, the bytes to write, and what to tell."""
    old, new, every = params.old_text, params.new_text, params.all
    view = view_of(place.path, place.selection)
    if view is None:
        _check_size(place.given, file)
        edited = replaced(file.read(), place.given, old, new, every=every)
        if (check := check_of(place.path)) is not None:
            check(edited.data)
        return edited, [edited.data], []
    data = file.read()
    text = view.view(data, place.given)
    edited = replaced(text.encode("utf-8"), place.given, old, new, every=every)
    change = view.with_text(data, edited.data.decode("utf-8"), place.given)
    return edited, change.pieces, change.notes


def _check_size(name: str, file: LockedFile) -> None:
    size = 0 if file.version is None else file.version.size
    if size > MAX_TEXT:
        raise FileError(
            f"{name} is {format_size(size)}; files up to {format_size(MAX_TEXT)} can be edited.",
            hint="Change it with Python, or with a program that works on streams.",
        )


def _told(name: str, edited: Edited, notes: list[str]) -> str:
    times = "1 occurrence" if edited.count == 1 else f"{edited.count} occurrences"
    spans = ", ".join(written(span) for span in edited.spans)
    more = " …" if edited.count > len(edited.spans) else ""
    word = "line" if spans.isdecimal() else "lines"
    first = f"Replaced {times} in {name} ({word} {spans}{more})."
    return "\n".join(part for part in (first, edited.excerpt, *notes) if part)
