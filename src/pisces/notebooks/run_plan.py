"""Which cells of a notebook a run is about, and which of them are not to be run."""

from collections.abc import Iterable
from typing import Final

import msgspec

from pisces.model.cells import CellRecord
from pisces.notebooks.celltext import showable
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import CellRef

MAY_FAIL: Final = "raises-exception"
"""The tag of a cell whose exception is expected."""
NOT_TO_RUN: Final = "skip-execution"
"""The tag of a cell that is not to be run."""


class RunPlan(msgspec.Struct, frozen=True):
    """What a run is to do. The cells of the call count from 0, those of the notebook have their own index."""

    records: list[CellRecord]
    cells: dict[int, CellRef]
    """Which cell of the notebook each cell of the call is."""
    may_fail: frozenset[int]
    """The cells of the call whose exception is expected."""
    skipped: dict[int, str]
    """Cells of the notebook that are not run although they are, or may be, code, and why."""

    @classmethod
    def of(cls, document: Document, places: Iterable[int]) -> "RunPlan":
        """The plan for these cells of a notebook, in order; cells of text are passed over."""
        records: list[CellRecord] = []
        cells: dict[int, CellRef] = {}
        may_fail: set[int] = set()
        skipped: dict[int, str] = {}
        for place in places:
            cell = document.cells[place]
            if cell.flaw:
                skipped[place] = f"invalid: {cell.flaw}"
                continue
            if cell.cell_type != "code":
                continue
            if NOT_TO_RUN in cell.tags or not cell.source.strip():
                skipped[place] = f"tagged {NOT_TO_RUN}" if NOT_TO_RUN in cell.tags else "empty"
                continue
            index = len(records)
            label = f"cell {place}"
            # Half a pair of surrogates can be sent neither to a kernel nor in a reply.
            records.append(CellRecord(index=index, title=label, label=label, code=showable(cell.source)))
            cells[index] = CellRef.of(document, place)
            if MAY_FAIL in cell.tags:
                may_fail.add(index)
        return cls(records, cells, frozenset(may_fail), skipped)


def kernelspec_of(document: Document) -> str | None:
    """The kernelspec of a notebook that is not in Python; None for one that is, or does not say."""
    metadata = document.metadata
    spec, info = metadata.get("kernelspec"), metadata.get("language_info")
    named = info.get("name") if isinstance(info, dict) else None
    if named is None and isinstance(spec, dict):
        named = spec.get("language")
    if not isinstance(named, str) or named.lower().removeprefix("i").startswith("python"):
        return None
    name = spec.get("name") if isinstance(spec, dict) else None
    return name if isinstance(name, str) and name else named
