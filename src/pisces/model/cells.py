"""A cell as it was asked for, and as it went."""

from typing import Literal

import msgspec

from pisces.model.events import Status
from pisces.model.kernel_info import KernelInfo

CellStatus = Literal["pending", "running", "complete", "error"]


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Code to run, with an optional title to show above its output."""

    code: str
    title: str = ""


class CellRecord(msgspec.Struct, kw_only=True):
    """What is known of one cell of a call; it changes while the call runs."""

    index: int
    title: str = ""
    code: str
    output: str = ""
    status: CellStatus = "pending"
    duration_ms: float | None = None
    exit_code: int | None = None
    execution_count: int | None = None
    status_events: list[Status] = msgspec.field(default_factory=list)
    has_markdown: bool = False
    language: str = ""
    """What it is written in, as it was asked for; empty where there is only one."""
    label: str = ""
    """What sentences call it, where that is not its number in the call: `cell 3` of a notebook."""
    kernel: KernelInfo | None = None
    """What ran it, where the cells of a call have several kernels."""

    @property
    def called(self) -> str:
        """What sentences call it."""
        return self.label or f"cell {self.index + 1}"
