"""Answers of the `session` tool as a terminal shows them: what a job came to in blocks, the rest in columns.

It loads a library that takes a while: import it only for a person.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

import msgspec
from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from pisces.cli.cell_names import name_of
from pisces.cli.final_block import FinalBlock
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails, SessionInfo
from pisces.render.screen import Screen
from pisces.render.spans import duration

_NUMBERS: Final = frozenset({"cells", "memory"})
_GAP: Final = 2
"""Columns between two columns."""


def shown(raw: bytes) -> str | None:
    """The answer for the terminal that standard output is; None where its text is all there is to show."""
    if not Screen.of(1, os.environ).styled:
        return None
    result = msgspec.json.decode(raw, type=ToolResult)
    if not isinstance(result.details, dict):
        return None
    details = msgspec.convert(result.details, SessionDetails)
    block = FinalBlock(1, sys.stdout.encoding or "utf-8")
    if details.action in ("wait", "cancel") and details.result is not None:
        job = f"{details.job.id} of session {details.job.session}\n" if details.job is not None else ""
        return job + block.whole(ToolResult(content=[], details=details.result, is_error=details.is_error))
    if details.action == "variables" and details.variables and not details.as_of_last_cell:
        rows = [(one.name, one.type, one.size) for one in details.variables]
        return _in_columns(("name", "type", "size"), rows, block)
    if details.action == "list" and details.sessions:
        heads = ("session", "state", "cells", "checkpoints", "memory", "folder")
        found = _in_columns(heads, [_session(one) for one in details.sessions], block)
        return None if found is None else "".join([found, *(f"{name_of(lost.line)}\n" for lost in details.lost)])
    return None


def _session(info: SessionInfo) -> tuple[str, ...]:
    since = duration(info.idle_seconds * 1000)
    state = "busy" if info.busy else "no kernel" if info.phase == "shutdown" else "idle"
    jobs = "".join(f", {job}" for job in info.jobs)
    memory = "" if info.memory_mb is None else f"{info.memory_mb:.0f} MB"
    named = [checkpoint.name for checkpoint in info.checkpoints]
    checkpoints = ", ".join([str(info.automatic_checkpoints), *named])
    return info.id, f"{state} for {since}{jobs}", str(info.cells), checkpoints, memory, info.folder


def _in_columns(heads: Sequence[str], rows: Sequence[Sequence[str]], block: FinalBlock) -> str | None:
    """The rows below their heads; None where more than the last column would have to be broken."""
    named = [[name_of(value) for value in row] for row in rows]
    widths = [max(cell_len(row[at]) for row in [heads, *named]) for at in range(len(heads))]
    if sum(widths[:-1]) + _GAP * len(widths[:-1]) + len(heads[-1]) > block.width:
        return None
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for at, head in enumerate(heads):
        justify: JustifyMethod = "right" if head in _NUMBERS else "left"
        table.add_column(head, justify=justify, overflow="fold", no_wrap=at < len(heads) - 1)
    for row in named:
        table.add_row(*map(Text, row))
    return block.printed(table)
