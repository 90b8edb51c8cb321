"""One call of `write`: a whole file, in one step, and never over what has changed since its writer read it."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from anyio.from_thread import check_cancelled

from pisces.errors import InvalidCall, PiscesError
from pisces.files.seen import ALL
from pisces.files.whole_file import locked
from pisces.model.files import WriteDetails
from pisces.model.results import TextBlock, ToolResult
from pisces.output.notice import format_size
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.files_notebook import check_of, view_of
from pisces.tools.files_params import WriteParams, check_write
from pisces.tools.files_place import folders_of, whole_place_of
from pisces.tools.files_seen import FileSeen
from pisces.tools.schema import parse_params


async def call_write(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Write the file. Raises `InvalidCall` for wrong parameters; what cannot be written is in the result."""
    parsed = parse_params(params, WriteParams)
    check_write(parsed)
    try:
        # A thread is waited for, so a call that is cancelled leaves either file, whole.
        return await anyio.to_thread.run_sync(_write, services, parsed, context)
    except InvalidCall:
        raise
    except PiscesError as error:
        return error_result(error.explain())


def _write(services: Services, params: WriteParams, context: CallContext) -> ToolResult:
    place = whole_place_of(services, params.path, "write")
    view = view_of(place.path, place.selection)
    with locked(place.path, while_waiting=check_cancelled) as file:
        created = file.version is None
        before = None if created or view is None else file.read()
        seen = FileSeen(services, context, place, file)
        seen.check_unchanged()
        seen.check_no_notice(params.content)
        notes: list[str] = []
        cells: Sequence[int] = ()
        if view is not None:
            change = view.with_text(before, params.content, place.given)
            seen.check_parts(change.touched)
            pieces, notes, cells = change.pieces, change.notes, change.keys
        else:
            data = params.content.encode("utf-8")
            if (check := check_of(place.path)) is not None:
                check(data)
            seen.check_lines(data)
            pieces = [data]
        with folders_of(file.path):
            version = file.replace(pieces)
        # The caller has given all of it, so it has seen all of it.
        services.seen.note(context.reader, file.path, version, lines=ALL if view is None else (), cells=cells)
    details = WriteDetails(
        path=str(place.path),
        kind="text" if view is None else "notebook",
        created=created,
        lines=_lines(params.content),
        bytes=version.size,
        notes=notes,
    )
    return ToolResult(content=[TextBlock(_told(place.given, details))], details=details)


def _told(name: str, details: WriteDetails) -> str:
    lines = f"{details.lines} line" if details.lines == 1 else f"{details.lines} lines"
    what = "a new file" if details.created else "in place of what was there"
    first = f"Wrote {lines} ({format_size(details.bytes)}) to {name}, {what}."
    return "\n".join([first, *details.notes])


def _lines(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
