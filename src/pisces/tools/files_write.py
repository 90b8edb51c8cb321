"""One call of `write`: a whole file, in one step, and never over what has changed since its writer read it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import check_cancelled

from pisces.errors import FileChanged, InvalidCall, PiscesError
from pisces.files.failures import explained
from pisces.files.whole_file import LockedFile, locked
from pisces.model.files import WriteDetails
from pisces.model.results import TextBlock, ToolResult
from pisces.output.notice import format_size
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.files_notebook import check_of, view_of
from pisces.tools.files_params import WriteParams, check_write
from pisces.tools.files_place import FilePlace, whole_place_of
from pisces.tools.schema import parse_params


async def call_write(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Write the file. Raises `InvalidCall` for wrong parameters; what cannot be written is in the result."""
    parsed = parse_params(params, WriteParams)
    check_write(parsed)
    try:
        # A thread is waited for, so a call that is cancelled leaves either file, whole.
        return await anyio.to_thread.run_sync(_write, services, parsed, context.owner)
    except InvalidCall:
        raise
    except PiscesError as error:
        return error_result(error.explain())


def _write(services: Services, params: WriteParams, owner: str) -> ToolResult:
    place = whole_place_of(services, params.path, "write")
    view = view_of(place.path, place.selection)
    with locked(place.path, while_waiting=check_cancelled) as file:
        created = file.version is None
        before = None if created or view is None else file.read()
        _check_seen(services, owner, place, file)
        notes: list[str] = []
        if view is not None:
            change = view.with_text(before, params.content, place.given)
            pieces, notes = change.pieces, change.notes
        else:
            data = params.content.encode("utf-8")
            if (check := check_of(place.path)) is not None:
                check(data)
            pieces = [data]
        with _folders_of(file.path):
            version = file.replace(pieces)
        services.seen.wrote(owner, file.path, version)
    details = WriteDetails(
        path=str(place.path),
        kind="text" if view is None else "notebook",
        created=created,
        lines=_lines(params.content),
        bytes=version.size,
        notes=notes,
    )
    return ToolResult(content=[TextBlock(_told(place.given, details))], details=details)


def _check_seen(services: Services, owner: str, place: FilePlace, file: LockedFile) -> None:
    """Raises `FileChanged` if the owner has read the file, and it is another now. A file that is gone is no loss."""
    known = services.seen.version(owner, file.path)
    if known is not None and file.version is not None and file.version != known:
        raise FileChanged(
            f"{place.given} has changed on disk since you read it; nothing was written.", hint="Read it again."
        )


@contextmanager
def _folders_of(path: Path) -> Iterator[None]:
    """Make the folders that are missing above a file; on an error those that were made go again."""
    made: list[Path] = []
    try:
        with explained(path, "written"):
            for folder in reversed([parent for parent in path.parents if not parent.exists()]):
                folder.mkdir(exist_ok=True)
                made.append(folder)
        yield
    except BaseException:
        for folder in reversed(made):
            try:
                folder.rmdir()
            except OSError:
                break
        raise


def _told(name: str, details: WriteDetails) -> str:
    lines = f"{details.lines} line" if details.lines == 1 else f"{details.lines} lines"
    what = "a new file" if details.created else "in place of what was there"
    first = f"Wrote {lines} ({format_size(details.bytes)}) to {name}, {what}."
    return "\n".join([first, *details.notes])


def _lines(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
