"""What the `eval` tool can be asked, and what is wrong with it where something is."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from pisces.kernels.deadline import Deadline
from pisces.model.cells import Cell, CellRecord
from pisces.sessions.report import pending_records
from pisces.tools.python_params import MIN_TIMEOUT, seconds_of
from pisces.tools.schema import check_name

DEFAULT_TIMEOUT: Final = 30.0
MAX_TIMEOUT: Final = 3600.0
_LANGUAGE: Final = "Such as py, bash."


class EvalCell(Struct, frozen=True, forbid_unknown_fields=True):
    """A cell and its language."""

    language: Annotated[str, Meta(min_length=1, max_length=200, description=_LANGUAGE)]
    code: str
    title: str = ""
    timeout: float | None = None
    reset: bool = False


class EvalParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `eval` tool."""

    cells: Annotated[list[EvalCell], Meta(min_length=1)]
    session: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


def check(params: EvalParams) -> None:
    """Raises `InvalidCall` for names that cannot be shown, and for a timeout that is no number."""
    check_name("session", params.session)
    for index, cell in enumerate(params.cells):
        check_name(f"cells[{index}].language", cell.language)
        deadline_of(cell, index)


def deadline_of(cell: EvalCell, index: int = 0) -> Deadline:
    """The deadline of a cell that begins now."""
    if cell.timeout == 0:
        return Deadline.never()
    place = f"cells[{index}].timeout"
    seconds = seconds_of(cell.timeout, default=DEFAULT_TIMEOUT, least=MIN_TIMEOUT, most=MAX_TIMEOUT, place=place)
    return Deadline.after(seconds)


def records_of(params: EvalParams) -> list[CellRecord]:
    """The records of the cells, which have not begun."""
    records = pending_records([Cell(cell.code, cell.title) for cell in params.cells])
    for record, cell in zip(records, params.cells, strict=True):
        record.language = cell.language
    return records
