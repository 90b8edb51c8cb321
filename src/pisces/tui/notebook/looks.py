"""The cells of a notebook as rows of a screen. A cell that has not changed is not made again."""

from typing import Any, Final

import msgspec
from rich.segment import Segment

from pisces.model.cells import CellStatus
from pisces.notebooks.cell import Cell
from pisces.render.blocks import Block, Formatted, Remark, Words, blocks_of_output
from pisces.render.drawn import lines_of
from pisces.render.kept import Kept
from pisces.render.look import Look
from pisces.render.rows import Row
from pisces.render.view import CellView, Notice
from pisces.tui.notebook.book import BookCell

_MOST_TEXT: Final = 100_000
"""Characters of one output that are laid out; all of it is in the pager."""
_MOST_OUTPUTS: Final = 200
_MOST_SOURCE: Final = 200_000
_KEPT: Final = 200
_GAP: Final = (Segment("│ "),)
_CONFLICT: Final = "Somebody else has changed this cell. 1 keeps your text, 2 takes theirs, o shows theirs."
_GONE: Final = "Somebody else has deleted this cell. 1 keeps your text (a new cell when you save), 2 lets it go."


class _Outputs(msgspec.Struct):
    outputs: list[dict[str, Any]] = []


_quick: Final = msgspec.json.Decoder(_Outputs)


class Running(msgspec.Struct, frozen=True):
    """How a cell of a run stands."""

    status: CellStatus
    began: float | None = None


class _Known(msgspec.Struct):
    cell: Cell
    digest: int
    blocks: tuple[Block, ...]
    failed: bool
    source: CellView | None = None
    output: CellView | None = None


class CellLooks:
    """Makes rows, and keeps what they are made of for the cells that were seen last."""

    def __init__(self) -> None:
        self._known: Kept[int, _Known] = Kept(_KEPT)

    def rows(
        self, cell: BookCell, look: Look, *, place: int, running: Running | None, gap: int | None, language: str
    ) -> list[Row]:
        """All rows of a cell; with a gap, so many empty ones stand in place of its source, for an editor."""
        known = self._know(cell)
        source = _heading(cell, known, place, running, language, hide_source=gap is not None)
        output = CellView(code="", status=source.status, blocks=known.blocks, notices=_notices(cell))
        # A view is known by its identity where its rows are kept: one that is equal is the same.
        source = known.source = known.source if known.source == source and known.source is not None else source
        output = known.output = known.output if known.output == output and known.output is not None else output
        whole = msgspec.structs.replace(look, expanded=True)
        return [*lines_of(source, whole)[:-1], *([_GAP] * (gap or 0)), *lines_of(output, look)[1:]]

    def _know(self, cell: BookCell) -> _Known:
        known = self._known.get(cell.key)
        if known is None or known.cell is not cell.cell:
            digest = hash(bytes(cell.cell.raw))
            if known is None or known.digest != digest:
                outputs = _outputs(cell.cell)
                failed = any(output.get("output_type") == "error" for output in outputs)
                known = _Known(cell.cell, digest, _blocks(cell.cell, outputs), failed)
            known.cell = cell.cell
            self._known.put(cell.key, known, 1)
        return known


def _heading(
    cell: BookCell, known: _Known, place: int, running: Running | None, language: str, *, hide_source: bool
) -> CellView:
    """The cell without its outputs."""
    kind = cell.kind
    ran = kind == "code" and cell.cell.execution_count is not None
    status: CellStatus = "error" if known.failed else "complete" if ran else "pending"
    return CellView(
        code="" if hide_source else cell.source[:_MOST_SOURCE] or " ",
        language={"code": language, "markdown": "markdown"}.get(kind, "text"),
        place=f"cell {place}" if not cell.gone else "cell",
        title=f"[{cell.cell.execution_count}]" if ran else "" if kind == "code" else kind,
        status=status if running is None else running.status,
        began=None if running is None else running.began,
        outcome="ok" if running is None else None,  # One that is in no run is not pending either.
        mark="not saved" if cell.draft is not None else "",
    )


def _notices(cell: BookCell) -> tuple[Notice, ...]:
    if cell.gone:
        return (Notice("lost", _GONE),)
    return (Notice("error", _CONFLICT),) if cell.conflict else ()


def _outputs(cell: Cell) -> list[dict[str, Any]]:
    """Decoded in one go: to look for them in the bytes takes five times as long, which is felt with megabytes."""
    if cell.flaw or cell.cell_type != "code":
        return []
    try:
        return _quick.decode(cell.raw).outputs
    except (msgspec.DecodeError, RecursionError):
        return cell.outputs


def _blocks(cell: Cell, outputs: list[dict[str, Any]]) -> tuple[Block, ...]:
    if cell.flaw:
        return (Remark(f"[{cell.flaw}]"),)
    blocks = [_bounded(block) for output in outputs[:_MOST_OUTPUTS] for block in blocks_of_output(output)]
    if len(outputs) > _MOST_OUTPUTS:
        blocks.append(Remark(f"[{len(outputs) - _MOST_OUTPUTS} more outputs: o shows all]"))
    return tuple(blocks)


def _bounded(block: Block) -> Block:
    if isinstance(block, Words) and len(block.text) > _MOST_TEXT:
        if block.kind == "error":
            return Words(block.text[-_MOST_TEXT:], block.kind)
        return Words(f"{block.text[:_MOST_TEXT]}\n[…{len(block.text) - _MOST_TEXT} more characters: o…]", block.kind)
    if isinstance(block, Formatted) and len(block.text) > _MOST_TEXT:
        return Formatted(block.text[:_MOST_TEXT])
    return block
