"""What the cells of one call did in one session, as far as it is still there."""

from functools import reduce

from pisces.model.events import VariableChanges
from pisces.sessions.variables import merge_changes, trimmed


class Doings:
    """Filled in by the runs of a call; those that run in the same session share one."""

    def __init__(self) -> None:
        self._finished: list[tuple[int, int, VariableChanges | None]] = []
        """Of each cell: the position of the session after it, its index, what it did to the names."""

    def add(self, position: int, index: int, changes: VariableChanges | None) -> None:
        """A cell came to its own end."""
        self._finished.append((position, index, changes))

    def forget(self, left: int = 0) -> list[int]:
        """The session is back at this position: the indexes of the cells whose doing is gone with that."""
        gone = [index for position, index, _ in self._finished if position > left]
        self._finished = [entry for entry in self._finished if entry[0] <= left]
        return gone

    @property
    def variables(self) -> VariableChanges | None:
        """What they did to the names, put together, as much as a result lists; None if nobody asked."""
        changes: VariableChanges | None = None
        return trimmed(reduce(merge_changes, (entry[2] for entry in self._finished), changes))
