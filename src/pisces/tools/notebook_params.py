"""What the `notebook` tool can be asked, and which parameters belong to which action."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta, Struct

from pisces.errors import InvalidCall
from pisces.model.notebooks import NotebookAction
from pisces.notebooks.cell import CellType
from pisces.tools.schema import check_name, parse_params, refuse_others

Outputs = Literal["summary", "full", "none"]


class NotebookParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `notebook` tool."""

    action: NotebookAction
    notebook_path: Annotated[str, Meta(min_length=1)]
    cell_index: Annotated[int, Meta(description="From 0; insert: the new cell's.")] | None = None
    cell_id: Annotated[str, Meta(min_length=1, description="In place of cell_index; insert: after it.")] | None = None
    last_index: Annotated[int, Meta(description="The last of several.")] | None = None
    content: str | None = None
    cell_type: Annotated[CellType, Meta(description="insert: default code.")] | None = None
    clear_outputs: Annotated[bool, Meta(description="edit: clear them too.")] | None = None
    to_index: Annotated[int, Meta(description="move: its new place.")] | None = None
    outputs: Annotated[Outputs, Meta(description="read: default summary.")] | None = None
    restart: Annotated[bool, Meta(description="Run from scratch, in session `<session>-clean`.")] | None = None
    keep_going: bool | None = None
    timeout: float | None = None
    session: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    kernel: Annotated[str, Meta(min_length=1)] | None = None
    cwd: Annotated[str, Meta(description="Default: the notebook's folder.")] | None = None
    background: bool | None = None


_RUN: Final = ("restart", "keep_going", "timeout", "session", "kernel", "cwd", "background")
TAKEN: Final[dict[NotebookAction, tuple[str, ...]]] = {
    "edit": ("cell_index", "cell_id", "content", "cell_type", "clear_outputs"),
    "insert": ("cell_index", "cell_id", "content", "cell_type"),
    "delete": ("cell_index", "cell_id"),
    "read": ("cell_index", "cell_id", "last_index", "outputs"),
    "move": ("cell_index", "cell_id", "to_index"),
    "clear": ("cell_index", "cell_id", "last_index"),
    "run": ("cell_index", "cell_id", "last_index", *_RUN),
    "run_all": _RUN,
    "run_until": ("cell_index", "cell_id", *_RUN),
}
"""Which parameters each action takes besides the path."""
_ONE_CELL: Final = frozenset({"edit", "delete", "move", "run", "run_until"})
"""Actions that must be told which cell."""


def parse(params: Mapping[str, Any]) -> NotebookParams:
    """The parameters, checked. Raises `InvalidCall`."""
    action = params.get("action") if isinstance(params, Mapping) else None
    if isinstance(action, str) and action not in get_args(NotebookAction):
        raise InvalidCall(f"Invalid action: {action}", hint=f"Actions: {', '.join(get_args(NotebookAction))}.")
    parsed = parse_params(params, NotebookParams)
    _check(parsed)
    return parsed


def _check(params: NotebookParams) -> None:
    action = params.action
    refuse_others(params, action, TAKEN[action], always=("action", "notebook_path"))
    if action in ("edit", "insert") and params.content is None:
        raise InvalidCall(f"Content is required for {action} action")
    if params.cell_index is not None and params.cell_id is not None:
        raise InvalidCall("Give either `cell_index` or `cell_id`, not both")
    if action in _ONE_CELL and params.cell_index is None and params.cell_id is None:
        raise InvalidCall(f"Which cell? The action `{action}` needs `cell_index`, which counts from 0, or `cell_id`")
    if params.last_index is not None and params.cell_index is None:
        raise InvalidCall("`last_index` ends a range that begins with `cell_index`, which is missing")
    if action == "move" and params.to_index is None:
        raise InvalidCall("`to_index` is missing: where is the cell to be?")
    check_name("session", params.session)
