"""What the cells of one call did in one session, as far as it is still there."""

from functools import reduce

from pisces.model.events import VariableChanges
from pisces.sessions.variables import merge_changes, trimmed


class Doings:
    """Filled in by the runs of a call; those that run in the same session share one."""

    def __init__(self) -> None:
        self._finished: list[tuple[int, int, VariableChanges | None, tuple[str, ...]]] = []
        """Of each cell: the position of the session after it, its index, what it did to the names, and to which of
        others."""

    def add(
        self, position: int, index: int, changes: VariableChanges | None, overwritten: tuple[str, ...] = ()
    ) -> None:
        """A cell came to its own end."""
        self._finished.append((position, index, changes, overwritten))

    def forget(self, left: int = 0) -> list[int]:
        """The session is back at this position: the indexes of the cells whose doing is gone with that."""
        gone = [entry[1] for entry in self._finished if entry[0] > left]
        self._finished = [entry for entry in self._finished if entry[0] <= left]
        return gone

    @property
    def overwritten(self) -> list[str]:
        """The names that were there before, and did not come from the notebook whose cells these are; in order."""
        return sorted({name for entry in self._finished for name in entry[3]})

    @property
    def may_have_overwritten_more(self) -> bool:
        """Whether a cell changed more names than a kernel reports. New names come last in its report."""
        changes = (entry[2] for entry in self._finished)
        return any(change is not None and change.more and not change.added for change in changes)

    @property
    def variables(self) -> VariableChanges | None:
        """What they did to the names, put together, as much as a result lists; None if nobody asked."""
        changes: VariableChanges | None = None
        return trimmed(reduce(merge_changes, (entry[2] for entry in self._finished), changes))
