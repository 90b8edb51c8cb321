"""Which cells of a journal made the present state: those that nobody took back, each with all it said."""

from collections.abc import Iterable

import msgspec

from pisces.journal.entries import (
    AnyEntry,
    CellBegan,
    CellEnded,
    CheckpointNamed,
    Output,
    Reset,
    SessionBegan,
    StateChanged,
    TextCut,
    WentBack,
)


class PastCell(msgspec.Struct, eq=False):
    """One try at a cell, as its journal tells."""

    began: CellBegan
    said: list[Output | TextCut] = msgspec.field(default_factory=list)
    ended: CellEnded | None = None
    """None for a cell that still runs, and for one whose host ended under it."""
    lost: bool = False
    """A later crash took what it did out of the state, although nobody asked for that."""

    @property
    def ran(self) -> bool:
        """Whether its code ran, as far as anybody can tell."""
        return self.ended is None or self.ended.began


def present_cells(entries: Iterable[AnyEntry]) -> list[PastCell]:
    """The cells that led to the state of after the last entry, in order.

    Cells that were taken back on purpose (undo, restore, reset) are not among them, and neither are those whose code
    never began. Cells whose effects a crash took away are, marked as lost: to run them again is what brings them back.
    Entries of a branch come behind those of its origin.
    """
    history = CellHistory()
    for entry in entries:
        history.follow(entry)
    return [cell for cell in history.cells if cell.ran]


class CellHistory:
    """The cells that led to the present state, entry by entry."""

    def __init__(self) -> None:
        self.cells: list[PastCell] = []
        """Those that nobody took back; of some the code may never have begun."""
        self._open: dict[int, PastCell] = {}
        self._named: dict[str, list[tuple[PastCell, bool]]] = {}
        """The cells at each named checkpoint, and whether each was lost already then."""
        self._before_reset: list[tuple[PastCell, bool]] = []
        """The same of the last reset that could be undone."""

    def follow(self, entry: AnyEntry) -> None:
        """The next entry."""
        match entry:
            case CellBegan():
                cell = self._open[entry.cell] = PastCell(entry)
                self.cells.append(cell)
            case Output() | TextCut():
                if entry.cell in self._open:
                    self._open[entry.cell].said.append(entry)
            case CellEnded():
                if entry.cell in self._open:
                    self._open.pop(entry.cell).ended = entry
            case _:
                self._follow_state(entry)

    def _follow_state(self, entry: AnyEntry) -> None:
        match entry:
            case SessionBegan():
                self._session_began(entry)
            case CheckpointNamed():
                self._named[entry.name] = self._cells_now()
            case StateChanged():
                for cell in self.cells:
                    cell.lost |= _is_above(cell, entry.position)
            case WentBack():
                self._go_back(entry)
            case Reset():
                if entry.can_be_undone:
                    self._before_reset = self._cells_now()
                self.cells = []
            case _:
                pass

    def _session_began(self, entry: SessionBegan) -> None:
        """A branch has the past of its origin, and none of its checkpoints."""
        self._open, self._named, self._before_reset = {}, {}, []
        if entry.branched_from is None:
            self.cells = []

    def _go_back(self, entry: WentBack) -> None:
        kept = self._before_reset if entry.over_reset else self._named.get(entry.name)
        if kept is None:
            self.cells = [cell for cell in self.cells if cell.lost or not _is_above(cell, entry.position)]
            return
        self.cells = [cell for cell, _ in kept]
        for cell, lost in kept:
            cell.lost = lost

    def _cells_now(self) -> list[tuple[PastCell, bool]]:
        return [(cell, cell.lost) for cell in self.cells]


def _is_above(cell: PastCell, position: int) -> bool:
    return cell.ended is not None and not cell.ended.died and cell.ended.position > position
