"""A result as data: short, the same for every tool, with a schema."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

from pisces.model.cells import CellStatus
from pisces.model.events import KernelState, VariableChanges
from pisces.model.results import Details, ImageBlock, Outcome, TextBlock, ToolResult
from pisces.tools.schema import json_schema

_HIDE_CONTENT: Final = ("claude-code", "codex", "opencode")
"""What the programs are called that show their model the data in place of text and pictures, not beside them."""

_WITHOUT_CELLS: Final = frozenset({"session", "read", "write", "edit"})
_ONLY_CELLS: Final = frozenset({"python", "eval", "bash"})
_OF_CELLS: Final = ("session", "state", "generation", "cells", "variables", "artifact", "job", "error")
"""What only a tool that runs cells has to say."""
_OUTCOMES: Final = ("ok", "error", "refused")
"""Of a tool that runs none."""


class CellLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cell, as it went."""

    status: CellStatus
    title: str = ""
    exit_code: int | None = None
    seconds: float | None = None


class Structured(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The structured content of every tool's result."""

    outcome: Outcome | Literal["refused"]
    text: Annotated[str, Meta(description="All text of the result.")]
    images: Annotated[int, Meta(description="Pictures in the content.")] = 0
    session: str = ""
    state: Annotated[KernelState, Meta(description="Of the variables.")] | None = None
    generation: Annotated[int, Meta(description="Processes the session has had.")] | None = None
    cells: list[CellLine] = []
    variables: Annotated[dict[str, list[str]], Meta(description="added, changed, removed")] = {}
    artifact: Annotated[str, Meta(description="Has the whole output.")] = ""
    job: Annotated[str, Meta(description="Goes on in the background.")] = ""
    error: Annotated[dict[str, Any], Meta(description="ename, evalue, traceback, cell")] = {}
    details: Annotated[dict[str, Any], Meta(description="Of other tools than python.")] = {}


def wants_structured(program: str) -> bool:
    """Whether a client of this name gets data that its model profits from."""
    name = program.lower()
    return not any(name.startswith(each) for each in _HIDE_CONTENT)


def structured_schema(tool: str) -> dict[str, Any]:
    """The schema of a tool's structured content: of what all tools have, only what this one can say."""
    schema = json_schema(Structured)
    unsaid = _OF_CELLS if tool in _WITHOUT_CELLS else ("details",) if tool in _ONLY_CELLS else ()
    outcomes = _OUTCOMES if tool in _WITHOUT_CELLS else (*get_args(Outcome), "refused")
    properties = {name: each for name, each in schema["properties"].items() if name not in unsaid}
    return {**schema, "properties": {**properties, "outcome": {"enum": list(outcomes)}}}


def structured(result: ToolResult) -> dict[str, Any]:
    """The result as data of JSON types."""
    text = "\n\n".join(block.text for block in result.content if isinstance(block, TextBlock))
    images = sum(isinstance(block, ImageBlock) for block in result.content)
    details = result.details
    if isinstance(details, Details):
        data = _of_cells(details, text, images, failed=result.is_error)
    else:
        refused = details is None and result.is_error
        outcome: Any = "refused" if refused else "error" if result.is_error else "ok"
        data = Structured(outcome=outcome, text=text, images=images, details=_plain(details))
    plain: dict[str, Any] = msgspec.to_builtins(data)
    return plain


def _of_cells(details: Details, text: str, images: int, *, failed: bool) -> Structured:
    kernel = details.kernel
    return Structured(
        # Cells can go well whose outputs could then not be written.
        outcome="error" if failed and details.outcome == "ok" else details.outcome,
        text=text,
        images=images,
        session=details.session,
        state=None if kernel is None else kernel.state,
        generation=None if kernel is None else kernel.generation,
        cells=[
            CellLine(
                record.status,
                record.title,
                record.exit_code,
                None if record.duration_ms is None else round(record.duration_ms / 1000, 3),
            )
            for record in details.cells
        ],
        variables=_names(details.variables),
        artifact=details.artifact_id or "",
        job="" if details.job is None else details.job.id,
        error={} if details.error is None else msgspec.to_builtins(details.error),
        details=_besides(details),
    )


def _besides(details: Details) -> dict[str, Any]:
    """What a tool that runs cells has to say besides: which cells of a notebook they are, and whether it has them."""
    own = [name for name in type(details).__struct_fields__ if name not in Details.__struct_fields__]
    said: dict[str, Any] = msgspec.to_builtins({name: getattr(details, name) for name in own}, str_keys=True)
    return said


def _names(changes: VariableChanges | None) -> dict[str, list[str]]:
    if changes is None:
        return {}
    named = {"added": [each.name for each in changes.added], "changed": [each.name for each in changes.changed]}
    return {kind: names for kind, names in {**named, "removed": list(changes.removed)}.items() if names}


def _plain(details: Any) -> dict[str, Any]:
    plain = msgspec.to_builtins(details)
    if not isinstance(plain, Mapping):
        return {}
    said = {name: value for name, value in plain.items() if name not in ("result", "is_error") and value is not None}
    result = plain.get("result")
    if isinstance(result, Mapping) and result.get("error"):
        said["error"] = result["error"]  # What a cell of the job raised that was waited for.
    return said
