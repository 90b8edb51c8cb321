"""What is said of a cell or of a run in words: all of an output, and how a run ended."""

from collections.abc import Iterator

from pisces.model.results import ToolResult
from pisces.notebooks.cell import Cell
from pisces.render.blocks import Block, Formatted, Image, Markdown, Remark, Tree, Words, blocks_of_output
from pisces.render.from_result import views_of
from pisces.render.terminal_text import without_control
from pisces.tui.notebook.book import BookCell, source_of


def full_text(cell: BookCell) -> str:
    """All that a cell says, as text; where somebody else has changed its source, what they wrote comes first."""
    theirs = [f"In the file:\n{source_of(cell.cell)}\n"] if cell.conflict else []
    return "".join([*theirs, *_outputs(cell.cell)])


def outcome(result: ToolResult) -> str:
    """What is to be said of a run: what became of the state, what failed, was cut or was not run."""
    notices = views_of(result).notices
    if not result.is_error:
        notices = tuple(each for each in notices if each.kind != "info" or each.text.startswith("The session works in"))
    return "\n".join(without_control(each.titled) for each in notices)


def _outputs(cell: Cell) -> Iterator[str]:
    if cell.flaw or cell.cell_type != "code":
        return
    for output in cell.outputs:
        for block in blocks_of_output(output):
            text = _text(block)
            yield text if text.endswith("\n") else f"{text}\n"


def _text(block: Block) -> str:
    match block:
        case Words():
            return without_control(block.text)
        case Formatted():
            return block.plain or block.text
        case Tree() | Markdown() | Remark():
            return block.text
        case Image():
            return block.name
        case _:
            return ""
