"""What the history of a session is made of: cells, what became of the state, and what no journal tells."""

from pathlib import Path
from typing import Final

import msgspec

from pisces.journal.entries import CellBegan, CellEnded
from pisces.journal.history import PastCell
from pisces.render.view import CellView, Notice
from pisces.tui.desk.live import LiveText

TAKEN_BACK: Final = "taken back"
LOST: Final = "lost"
GONE: Final = "gone"
"""The session has begun anew since, without what the cell did."""
NOT_RUN: Final = "not run"


class CellItem(msgspec.Struct, eq=False):
    """One cell of a journal. It knows where its cell is, not what that said."""

    path: Path
    """The journal."""
    start: int
    end: int
    """Where in it the cell is; the end moves on while the cell runs."""
    past: PastCell
    mark: str = ""
    own: bool = False
    """Whether it was run from here."""
    part: int = 0
    """Which cell of its call it is, from 1; 0 where the call has only one."""
    over: bool = False
    """Whether it is known to be over although no end of it was written down."""
    live: LiveText | None = None
    """What it says, as it comes, if it was run from here and still runs."""
    told: CellView | None = None
    """How it ended, where the journal does not tell and the result of the call does."""

    @property
    def began(self) -> CellBegan:
        """How it began."""
        return self.past.began

    @property
    def ended(self) -> CellEnded | None:
        """How it ended; None while it runs, and where that is not known."""
        return self.past.ended

    @property
    def running(self) -> bool:
        """Whether it has not ended, as far as anybody can tell."""
        return self.ended is None and not self.over

    @property
    def version(self) -> tuple[object, ...]:
        """Changes whenever there is something else to see of it."""
        return (self.end, self.ended is None, self.over, self.mark, self.part, id(self.told))


class LocalItem(msgspec.Struct, eq=False):
    """Something that was run from here and that no journal tells of: a command of the shell, as a rule."""

    view: CellView
    live: LiveText | None = None

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self.view.status == "running"

    @property
    def version(self) -> tuple[object, ...]:
        """Changes whenever there is something else to see of it."""
        return (id(self.view), self.live.times if self.live is not None else 0)


class NoticeItem(msgspec.Struct, eq=False):
    """Something that became of the state, or that had to be said."""

    notice: Notice
    time: float = 0.0

    @property
    def running(self) -> bool:
        """It has been said."""
        return False

    @property
    def version(self) -> tuple[object, ...]:
        """It never changes."""
        return ()


Item = CellItem | LocalItem | NoticeItem
