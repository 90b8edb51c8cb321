"""What a run is asked for, and what it has to tell: values only, for the tool above and the run beside them."""

from collections.abc import Callable, Sequence

import msgspec

from pisces.model.cells import Cell, CellRecord
from pisces.model.events import KernelState, Restore, VariableChanges
from pisces.model.results import CellError, Outcome
from pisces.output.sanitize import clean
from pisces.sessions.variables import Dropped


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a call wants its cells run."""

    owner: str = "runtime"
    cwd: str | None = None
    reset: bool = False
    keep_going: bool = False
    inspect: bool = True
    interrupt_grace: float = 5.0
    retry_on_crash: str = "safe"
    cells: int = 0
    """How many cells the call has in all; 0 if it is only those of this run."""
    put_off_ms: float = 0.0
    """Cells that took less than this together, and are followed by another one, are kept together: see the policy."""
    may_fail: frozenset[int] = frozenset()
    """The indexes of cells whose exception is expected: the call goes on after it, and is none the worse for it."""
    notebook: str = ""
    """The path of the notebook that the cells are of; empty for others."""
    subject: str = ""
    """Whose state notices are about, where a call has several kernels; empty where it has one."""
    unread: Callable[[], bool] | None = None
    """Says, when the cells have run, that nobody will read the report."""


class RunReport(msgspec.Struct, kw_only=True):
    """How a call went, for whoever makes a result of it."""

    records: list[CellRecord]
    outcome: Outcome = "ok"
    state: KernelState = "kept"
    restore: Restore | None = None
    lost_cells: list[int] = msgspec.field(default_factory=list)
    """The indexes of cells of this call that finished, and whose doing is gone with the kernel."""
    expected: list[int] = msgspec.field(default_factory=list)
    """The indexes of cells that raised as they might: the call went on after them."""
    error: CellError | None = None
    """What the first cell raised that failed and was not expected to."""
    variables: VariableChanges | None = None
    overwritten: list[str] = msgspec.field(default_factory=list)
    """The variables of the session that cells of a notebook changed or deleted, and that did not come from it."""
    may_have_overwritten_more: bool = False
    """Whether there may be more of them."""
    dropped: Dropped | None = None
    """What the reset that the call began with took out of the session."""
    notices: list[str] = msgspec.field(default_factory=list)
    """What the reader must be told before anything else, about the state."""
    notes: list[str] = msgspec.field(default_factory=list)
    """What the reader should know besides."""
    not_kept: str = ""
    """That the state of after the last cell was not kept, and why; empty if it was, or need not be."""


def pending_records(cells: Sequence[Cell]) -> list[CellRecord]:
    """The records of cells that have not begun."""
    return [CellRecord(index=i, title=_one_line(cell.title), code=cell.code) for i, cell in enumerate(cells)]


def _one_line(title: str) -> str:
    """A title as a heading can have it: no line break, nothing that a terminal would obey."""
    return " ".join(clean(title).split()) if title else ""
