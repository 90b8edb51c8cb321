"""The action `read` of the `notebook` tool: cells with their outputs, as a text that is bounded."""

import anyio
import msgspec

from pisces.files.version import FileVersion
from pisces.model.notebooks import NotebookCellInfo, NotebookDetails
from pisces.model.results import Block, TextBlock, ToolResult
from pisces.notebooks.addressing import place_of, places_of
from pisces.notebooks.cell import Cell
from pisces.notebooks.cell_view import keys_of
from pisces.notebooks.notebook_file import NotebookFile
from pisces.notebooks.readable import Readable, cell_info, read_notebook
from pisces.notebooks.shown_cells import pictures_of, shown_cell
from pisces.output.images import for_model
from pisces.output.notice import truncation_notice
from pisces.output.sink import OutputSink, SinkLimits
from pisces.tools.base import CallContext, Services
from pisces.tools.notebook_params import NotebookParams

_DETAILS_BYTES = 8 << 20
"""The most of outputs that the details of one call hold."""
_MAX_PICTURES = 8
"""More than these would be more than a model looks at; the text says how many there are."""


async def read_cells(
    services: Services, params: NotebookParams, context: CallContext, file: NotebookFile
) -> tuple[ToolResult, FileVersion, list[int]]:
    """The cells that are asked for, which version of the file they are of, and the keys of those that are shown whole.

    Raises `NotebookError`.
    """
    return await anyio.to_thread.run_sync(_read_cells, services, params, context, file)


def _read_cells(
    services: Services, params: NotebookParams, context: CallContext, file: NotebookFile
) -> tuple[ToolResult, FileVersion, list[int]]:
    found, version = read_notebook(file.path, file.shown)
    wanted = _wanted(found.cells, params)
    result = _shown(services, params, context, found, wanted)
    return result, version, _whole(found.cells, wanted, result, context)


def _whole(cells: tuple[Cell, ...], wanted: range, result: ToolResult, context: CallContext) -> list[int]:
    """The keys of the cells whose source the result shows as it is."""
    text = f"{result.text}\n"
    if context.max_text is not None and len(msgspec.json.encode(text)) > context.max_text:
        return []  # What is passed on to the caller is cut once more.
    keys = keys_of(cells)
    shown = [(index, shown_cell(index, cells[index], outputs="none")) for index in wanted if not cells[index].flaw]
    return [keys[index] for index, each in shown if each.endswith(cells[index].source) and f"{each}\n" in text]


def _wanted(cells: tuple[Cell, ...], params: NotebookParams) -> range:
    path = params.notebook_path
    if params.cell_id is not None:
        place = place_of(cells, None, params.cell_id, path)
        return range(place, place + 1)
    if params.cell_index is None:
        return range(len(cells))
    return places_of(cells, params.cell_index, params.last_index, path)


def _shown(
    services: Services, params: NotebookParams, context: CallContext, found: Readable, wanted: range
) -> ToolResult:
    how = params.outputs or "summary"
    limits = SinkLimits.of(services.settings.output)
    sink = OutputSink(limits=limits, spill=lambda: services.artifacts.new("notebooks", "notebook"))
    pictures: list[Block] = []
    more = 0
    for index in wanted:
        cell = found.cells[index]
        sink.write(shown_cell(index, cell, outputs=how) + "\n\n")
        outputs = cell.outputs if how == "full" and not cell.flaw else []
        found_here = [picture for output in outputs for picture in pictures_of(output)]
        for mime, data in found_here:
            if len(pictures) < _MAX_PICTURES:
                pictures.append(for_model(data, mime))
            else:
                more += 1
    dump = sink.dump()
    sink.close()
    heading = f"{params.notebook_path}: {len(found.cells)} cell{'' if len(found.cells) == 1 else 's'}"
    notes = [f"[{more} more pictures are not shown: read fewer cells.]"] if more else []
    notes += [found.read_only] if found.read_only else []
    notice = truncation_notice(dump, context.read_with)
    if notice:
        services.seen.noticed(context.reader, notice.strip())
    shown = dump.text.removesuffix("\n\n") + notice
    text = "\n\n".join(part for part in (heading, shown, *notes) if part)
    details = NotebookDetails(
        action="read",
        notebook_path=params.notebook_path,
        total_cells=len(found.cells),
        cells=_infos(found, wanted, full=how == "full"),
        artifact_id=dump.artifact_id,
    )
    if len(wanted) == 1:
        only = details.cells[0]
        details.cell_index, details.cell_id = only.cell_index, only.cell_id
        details.cell_type, details.cell_source = only.cell_type, only.cell_source
    return ToolResult(content=[TextBlock(text), *pictures], details=details)


def _infos(found: Readable, wanted: range, *, full: bool) -> list[NotebookCellInfo]:
    """The cells for programs; outputs as long as there is room for them."""
    room = _DETAILS_BYTES if full else -1
    infos = []
    for index in wanted:
        cell = found.cells[index]
        room -= len(cell.raw)
        infos.append(cell_info(index, cell, outputs=room >= 0))
    return infos
