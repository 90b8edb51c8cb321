"""What there is to see of a call, whatever it is shown with: cells with their outputs, and what has to be said besides.

Values only. `from_result` makes them of a tool's result, `from_journal` of what a journal tells; `cells` paints them.
"""

from typing import Final, Literal

import msgspec

from pisces.model.cells import CellStatus
from pisces.model.events import Status
from pisces.model.results import Outcome
from pisces.render.blocks import Block

NoticeKind = Literal["restored", "lost", "unknown", "crashed", "stopped", "cut", "error", "info"]
"""What a notice is about: the state of the kernel, a cell that was stopped, output that was cut, an error, the rest."""


STATES: Final[dict[str, NoticeKind]] = {"restored": "restored", "lost": "lost", "unknown": "unknown"}
"""What became of the state of a kernel, as results and journals call it, and the kind of the notice that tells it."""
TITLES: Final[dict[NoticeKind, str]] = {
    "restored": "STATE RESTORED",
    "lost": "STATE LOST",
    "unknown": "STATE UNKNOWN",
    "crashed": "KERNEL CRASHED",
}
"""Of the notices that nobody may overlook: words in capitals, which need no colour to be seen."""


class Notice(msgspec.Struct, frozen=True):
    """Something that has to be said beside the output."""

    kind: NoticeKind
    text: str

    @property
    def titled(self) -> str:
        """The text, behind words in capitals if nobody may overlook it."""
        return f"{TITLES[self.kind]}: {self.text}" if self.kind in TITLES else self.text


class CellView(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, as it stands."""

    code: str
    language: str = "python"
    title: str = ""
    place: str = ""
    """Which one it is, for its heading: `[2/3]`, `[14]`, `cell 4`; empty where it is the only one."""
    status: CellStatus = "pending"
    began: float | None = None
    """When it began, in seconds since the epoch; for the time that a running cell shows."""
    duration_ms: float | None = None
    outcome: Outcome | None = None
    """How it ended; None while it runs, and before."""
    exit_code: int | None = None
    blocks: tuple[Block, ...] = ()
    """Its output, in order."""
    status_events: tuple[Status, ...] = ()
    notices: tuple[Notice, ...] = ()
    artifact_id: str | None = None
    """Where all of the text is, if it was too much to show."""
    mark: str = ""
    """What became of it later, in a word or two: `taken back`, `lost`."""

    @property
    def only_exited(self) -> bool:
        """Whether it ended with `sys.exit(0)`, which is no failure."""
        return self.outcome == "error" and self.exit_code == 0

    @property
    def shown_exit_code(self) -> int | None:
        """Its exit code, where that says more than whether it failed."""
        expected = {"complete": 0, "error": 1}.get(self.status)
        return None if self.exit_code == expected else self.exit_code
