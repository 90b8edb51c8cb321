"""One call of the `notebook` tool: which file it is about, and what does it."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import check_cancelled

from pisces.errors import BadCell, InvalidCall, PiscesError
from pisces.files.failures import explained
from pisces.model.notebooks import NotebookDetails
from pisces.model.results import TextBlock, ToolResult
from pisces.notebooks.addressing import place_of
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import NotebookFile
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.files_place import absolute
from pisces.tools.notebook_edit import EDITING, REPLACING, edited
from pisces.tools.notebook_params import NotebookParams, parse
from pisces.tools.notebook_read import read_cells
from pisces.tools.notebook_run import NotebookRun
from pisces.tools.notebook_seen import Seen


async def call_notebook(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Do what was asked. Raises `InvalidCall` for wrong parameters; everything else is in the result."""
    parsed = parse(params)
    path = absolute(services, parsed.notebook_path)
    file = NotebookFile(path, parsed.notebook_path, while_waiting=check_cancelled)
    try:
        with explained(path, "opened"):
            real = Path(os.path.realpath(path))  # noqa: ASYNC240 - it only follows links
        seen = Seen(services.seen, context.reader, real)
        if parsed.action in EDITING:
            return await _edit(parsed, file, seen)
        if parsed.action == "read":
            result, version, whole = await read_cells(services, parsed, context, file)
            assert isinstance(result.details, NotebookDetails)
            seen.note(version, result.details, whole)
            return result
        return await NotebookRun(services, parsed, context, file, seen).result()
    except InvalidCall:
        raise
    except BadCell as error:
        return error_result(str(error.in_file(parsed.notebook_path)))
    except PiscesError as error:
        return error_result(error.explain())


async def _edit(params: NotebookParams, file: NotebookFile, seen: Seen) -> ToolResult:
    """Change cells. An index means what the caller has seen; an id the same cell, whatever has changed around it."""
    told: list[tuple[str, NotebookDetails]] = []
    seen.must_have_no_notice(params.content or "")

    def change(document: Document) -> Document:
        if params.action in REPLACING and params.cell_id is not None:
            place = place_of(document.cells, None, params.cell_id, params.notebook_path)
            seen.must_know(document.cells[place], params.notebook_path)
        if params.action == "edit":
            place = place_of(document.cells, params.cell_index, params.cell_id, params.notebook_path)
            seen.must_be_whole(document.cells, place, params.notebook_path)
        changed, text, details = edited(document, params)
        told[:] = [(text, details)]
        return changed

    by_index = params.cell_id is None or params.to_index is not None
    expected = seen.version if by_index else None
    await anyio.to_thread.run_sync(partial(file.change, change, unless_changed_since=expected))
    text, details = told[0]
    seen.wrote(file, details, gave_source=params.content is not None)
    return ToolResult(content=[TextBlock(text)], details=details)
