"""What a call of a tool comes back with, whatever the front end."""

from typing import Any, Literal

import msgspec

from pisces.model.cells import CellRecord
from pisces.model.events import Status, VariableChanges
from pisces.model.kernel_info import KernelInfo

Outcome = Literal["ok", "error", "timeout", "interrupted", "crashed", "aborted", "disconnected"]
"""How a call ended. `aborted`: cancelled before the code began; `disconnected`: channel lost, fate unknown."""

JobState = Literal["running", "finished"]


class TextBlock(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """Text for the model."""

    text: str


class ImageBlock(msgspec.Struct, frozen=True, tag_field="type", tag="image"):
    """A picture for the model, base64, scaled down to what models take."""

    data: str
    mime_type: str


Block = TextBlock | ImageBlock


class ImageOutput(msgspec.Struct, frozen=True):
    """A picture that a cell displayed, base64, as it came."""

    mime_type: str
    data: str
    cell: int
    width: int | None = None
    height: int | None = None
    artifact_id: str | None = None
    """Where the bytes are when they are not inline (SVG is kept as an artifact only)."""


class Truncation(msgspec.Struct, frozen=True):
    """What of the output is shown and what is not."""

    total_lines: int
    total_bytes: int
    shown_lines: int
    shown_bytes: int
    """Without the notes that say what is missing."""
    elided_lines: int
    elided_bytes: int


class JobInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A call that goes on, or went on, without its caller."""

    id: str
    session: str
    state: JobState
    title: str
    """What it runs: the title of its first cell, or the beginning of the code."""
    cells: int
    cells_done: int
    started: str
    """When it began, as ISO 8601 in UTC."""
    seconds: float
    """How long it has been running, or ran."""
    outcome: Outcome | None = None
    """How it ended; None while it runs."""


class CellError(msgspec.Struct, frozen=True):
    """The exception that ended a cell, as Jupyter describes one. Each text is as long as an output may be."""

    ename: str
    evalue: str
    traceback: list[str]
    """Its lines, first to last."""
    cell: int
    """The index of the cell in the call."""


class Details(msgspec.Struct, kw_only=True):
    """The structured half of a result of the `python` tool, and of `eval`."""

    cells: list[CellRecord] = msgspec.field(default_factory=list)
    json_outputs: list[Any] = msgspec.field(default_factory=list)
    images: list[ImageOutput] = msgspec.field(default_factory=list)
    status_events: list[Status] = msgspec.field(default_factory=list)
    session: str = ""
    kernel: KernelInfo | None = None
    """Of `eval`, that of the last cell, or of the first whose state was not kept; each cell has its own besides."""
    outcome: Outcome = "ok"
    cancelled: bool = False
    stdin_requested: bool = False
    variables: VariableChanges | None = None
    truncation: Truncation | None = None
    artifact_id: str | None = None
    full_output_path: str | None = None
    notices: list[str] = msgspec.field(default_factory=list)
    """What the text says around the output: what became of the state, why the call ended, what failed."""
    job: JobInfo | None = None
    """The job that the call became; everything else is then as it was when the call came back."""
    error: CellError | None = None
    """What the first cell that failed raised; None where that was no exception, as with a crash."""
    is_error: bool = False


class ToolResult(msgspec.Struct, kw_only=True):
    """What every tool returns: blocks for the model, details for programs and renderers."""

    content: list[Block]
    details: Any = None
    is_error: bool = False

    @property
    def text(self) -> str:
        """The first text block, which is the whole answer for a reader of text."""
        return next((block.text for block in self.content if isinstance(block, TextBlock)), "")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: the object that `--json` prints."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


class Update(msgspec.Struct, frozen=True):
    """Progress of a running call: the live tail of its output and the cell records as they are now."""

    tail: str
    cells: tuple[CellRecord, ...]


class FunctionValue(msgspec.Struct, frozen=True):
    """The details of a function that a program registered as a tool: its value, of JSON types."""

    value: Any
