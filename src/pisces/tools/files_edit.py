"""One call of `edit`: an exact text for another, in a file or in the text of a notebook's cells."""

from collections.abc import Collection, Mapping, Sequence
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
from pisces.tools.files_notebook import Change, TextView, check_of, view_of
from pisces.tools.files_params import EditParams, check_edit
from pisces.tools.files_place import FilePlace, folders_of, whole_place_of
from pisces.tools.files_seen import FileSeen
from pisces.tools.schema import parse_params


async def call_edit(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Edit the file. Raises `InvalidCall` for wrong parameters; what cannot be edited is in the result."""
    parsed = parse_params(params, EditParams)
    check_edit(parsed)
    try:
        # A thread is waited for, so a call that is cancelled leaves either file, whole.
        return await anyio.to_thread.run_sync(_edit, services, parsed, context)
    except InvalidCall:
        raise
    except PiscesError as error:
        return error_result(error.explain())


def _edit(services: Services, params: EditParams, context: CallContext) -> ToolResult:
    place = whole_place_of(services, params.path, "edit")
    view = view_of(place.path, place.selection)
    if view is None:
        _check_old_text(params)
    with locked(place.path, while_waiting=check_cancelled) as file:
        before = file.version
        if before is None and (view is None or params.old_text):
            either = " or `edit` with an empty `old_text`" if view is not None else ""
            raise FileMissing(f"File not found: {place.path}", hint=f"Use `write`{either} to make it.")
        FileSeen(services, context, place, file).check_no_notice(params.new_text)
        edited, change, pieces = _changed(place, view, file, params)
        before = file.version
        with folders_of(file.path):
            version = file.replace(pieces)
        seen, reader = services.seen, context.reader
        if before is None and change is not None:
            seen.note(reader, file.path, version, cells=change.keys)
        elif seen.version(reader, file.path) == before:  # Else there is something in it that was not seen.
            if change is None:
                seen.wrote(reader, file.path, version, lines=edited.carried(seen.lines(reader, file.path)))
            else:
                seen.wrote(reader, file.path, version, cells=_known_after(change, seen.cells(reader, file.path)))
    notes = [] if change is None else change.notes
    details = EditDetails(
        path=str(place.path),
        kind="text" if view is None else "notebook",
        replacements=edited.count,
        changed=[LineSpan(span.first, span.last or span.first) for span in edited.spans],
        bytes=version.size,
        notes=notes,
    )
    return ToolResult(content=[TextBlock(_told(place.given, edited, notes, created=before is None))], details=details)


def _check_old_text(params: EditParams) -> None:
    if not params.old_text:
        raise InvalidCall("`old_text` is empty: give the text to replace, or use `write` for the whole file")


def _changed(
    place: FilePlace, view: TextView | None, file: LockedFile, params: EditParams
) -> tuple[Edited, Change | None, Sequence[Piece]]:
    """What the edit comes to, in another text of the file too, and the bytes to write."""
    old, new, every = params.old_text, params.new_text, params.all
    if view is None:
        _check_size(place.given, file)
        edited = replaced(file.read(), place.given, old, new, every=every)
        if (check := check_of(place.path)) is not None:
            check(edited.data)
        return edited, None, [edited.data]
    data = None if file.version is None else file.read()
    text = "" if data is None else view.view(data, place.given)[0]
    if text:
        _check_old_text(params)
    edited = replaced(text.encode("utf-8"), place.given, old, new, every=every)
    change = view.with_text(data, edited.data.decode("utf-8"), place.given)
    return edited, change, change.pieces


def _known_after(change: Change, known: Collection[int]) -> Sequence[int]:
    """The cells of the new file that a caller knows besides those it knew: what it made of cells that it knew."""
    return [change.keys[at] for at in change.made] if all(part.key in known for part in change.touched) else []


def _check_size(name: str, file: LockedFile) -> None:
    size = 0 if file.version is None else file.version.size
    if size > MAX_TEXT:
        raise FileError(
            f"{name} is {format_size(size)}; files up to {format_size(MAX_TEXT)} can be edited.",
            hint="Change it with Python, or with a program that works on streams.",
        )


def _told(name: str, edited: Edited, notes: list[str], *, created: bool) -> str:
    times = "1 occurrence" if edited.count == 1 else f"{edited.count} occurrences"
    spans = ", ".join(written(span) for span in edited.spans)
    more = " …" if edited.count > len(edited.spans) else ""
    word = "line" if spans.isdecimal() else "lines"
    where = f"({word} {spans}{more})"
    first = f"Made {name}, a new file {where}." if created else f"Replaced {times} in {name} {where}."
    return "\n".join(part for part in (first, edited.excerpt, *notes) if part)
