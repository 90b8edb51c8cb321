"""Notebooks as the `notebook` tool tells of them: values only."""

from typing import Any, Literal

import msgspec

from pisces.model.results import Details

NotebookAction = Literal["edit", "insert", "delete", "read", "move", "clear", "run", "run_all", "run_until"]


class NotebookCellInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cell as `read` tells of it."""

    cell_index: int
    cell_type: str
    cell_id: str | None = None
    cell_source: str = ""
    execution_count: int | None = None
    tags: list[str] = []
    outputs: list[dict[str, Any]] | None = None
    """As they are in the file, where they were asked for in full."""


class NotebookDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The structured half of a result of the `notebook` tool that ran nothing."""

    action: NotebookAction
    notebook_path: str
    total_cells: int
    cell_index: int | None = None
    cell_type: str | None = None
    cell_source: str | None = None
    """The new source, or that of the cell that was deleted."""
    cell_id: str | None = None
    stale_outputs: bool = False
    """Whether the cell has outputs of a source that it had before."""
    cells: list[NotebookCellInfo] = []
    artifact_id: str | None = None
    """Where all of the text is, if it was too much to show."""


class NotebookRunDetails(Details, kw_only=True):
    """The structured half of a result of the `notebook` tool that ran cells: that of `python`, and more."""

    action: NotebookAction
    notebook_path: str
    total_cells: int
    ran: list[int] = msgspec.field(default_factory=list)
    """The indexes, in the notebook, of the cells that began: those of `cells` which are not `pending`, in order."""
    not_run: list[int] = msgspec.field(default_factory=list)
    """Code cells that were asked for and did not begin, because one before them failed or the time ran out."""
    skipped: dict[int, str] = msgspec.field(default_factory=dict)
    """Cells that are not to be run, and why: empty, tagged `skip-execution`, or none that a notebook can have."""
    overwritten: list[str] = msgspec.field(default_factory=list)
    """The variables that the session had before, not from this notebook, and that the cells changed or deleted."""
    written: bool = True
    """Whether all outputs are in the notebook."""
    unwritten: list[int] = msgspec.field(default_factory=list)
    """The indexes of the cells whose outputs are not."""
