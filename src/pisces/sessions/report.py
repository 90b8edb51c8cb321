"""What a run is asked for, and what it has to tell: values only, for the tool above and the run beside them."""

import msgspec

from pisces.model.cells import CellRecord
from pisces.model.events import KernelState, Restore, VariableChanges
from pisces.model.results import Outcome


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a call wants its cells run."""

    owner: str = "runtime"
    cwd: str | None = None
    reset: bool = False
    keep_going: bool = False
    inspect: bool = True
    interrupt_grace: float = 5.0
    retry_on_crash: str = "safe"


class RunReport(msgspec.Struct, kw_only=True):
    """How a call went, for whoever makes a result of it."""

    records: list[CellRecord]
    outcome: Outcome = "ok"
    state: KernelState = "kept"
    restore: Restore | None = None
    earlier_cells_kept: bool = True
    """Whether what the cells before the failed one did is still there."""
    variables: VariableChanges | None = None
    notices: list[str] = msgspec.field(default_factory=list)
    """What the reader must be told before anything else, about the state."""
    notes: list[str] = msgspec.field(default_factory=list)
    """What the reader should know besides."""
