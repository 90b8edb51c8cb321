"""Which cell of a file that was read again is which of those that are known."""

from collections.abc import Sequence

import msgspec

from pisces.notebooks.cell import Cell
from pisces.notebooks.compare_matching import match_cells


class _Known(msgspec.Struct, frozen=True):
    """What cells are known by; also those that no notebook can have."""

    id: str | None
    cell_type: str
    source: str

    @classmethod
    def of(cls, cell: Cell) -> "_Known":
        return cls(cell.id, "invalid", "") if cell.flaw else cls(cell.id, cell.cell_type, cell.source)


def same_cells(old: Sequence[Cell], new: Sequence[Cell]) -> dict[int, int]:
    """By its place in `old`, the place that each cell has in `new`."""
    ids = [cell.id for cell in new]
    if None not in ids and len(set(ids)) == len(ids) and ids == [cell.id for cell in old]:
        return {place: place for place in range(len(ids))}
    known_before, known_now = list(map(_Known.of, old)), list(map(_Known.of, new))
    if known_before == known_now:
        return {place: place for place in range(len(new))}
    return match_cells(known_before, known_now)
