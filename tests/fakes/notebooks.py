"""Notebooks for tests, on disk as Jupyter writes them, and calls of the `notebook` tool."""

import json
from pathlib import Path
from typing import Any

import anyio
import nbformat
from anyio.abc import TaskGroup

from pisces.model.notebooks import NotebookDetails, NotebookRunDetails
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import Watcher

CellValue = dict[str, Any]


def code(source: str, cell_id: str | None = None, *, tags: list[str] | None = None, **members: Any) -> CellValue:
    """A code cell that has not been run; `members` are put over it."""
    cell = {"cell_type": "code", "execution_count": None, "outputs": [], **_common(source, cell_id)}
    if tags is not None:
        cell["metadata"] = {"tags": tags}
    return {**cell, **members}


def markdown(source: str, cell_id: str | None = None) -> CellValue:
    """A cell of text."""
    return {"cell_type": "markdown", **_common(source, cell_id)}


def ran(cell: CellValue, text: str, count: int = 1) -> CellValue:
    """The cell after a run in which it printed this."""
    stream = {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}
    return {**cell, "execution_count": count, "outputs": [stream]}


def _common(source: str, cell_id: str | None) -> CellValue:
    common: CellValue = {"metadata": {}, "source": source.splitlines(keepends=True)}
    return common if cell_id is None else {"id": cell_id, **common}


def written(path: Path, *cells: CellValue, metadata: dict[str, Any] | None = None, minor: int = 5) -> Path:
    """Write a notebook as Jupyter does. Cells without an id get `c0`, `c1` … where the format has ids."""
    if minor >= 5:
        cells = tuple({"id": f"c{index}", **cell} for index, cell in enumerate(cells))
    value = {"cells": list(cells), "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": minor}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def cells_in(path: Path) -> list[CellValue]:
    """The cells of a file, as they are now."""
    found: list[CellValue] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def sources_in(path: Path) -> list[str]:
    """Their sources."""
    return ["".join(cell["source"]) for cell in cells_in(path)]


def outputs_in(path: Path, index: int) -> list[CellValue]:
    """The outputs of one of them."""
    found: list[CellValue] = cells_in(path)[index]["outputs"]
    return found


def text_in(path: Path, index: int) -> str:
    """All that a cell printed."""
    return "".join("".join(output["text"]) for output in outputs_in(path, index) if output["output_type"] == "stream")


def state_of(path: Path) -> tuple[bytes, int, int]:
    """What differs after every write: its bytes, its time, and which file it is."""
    return path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino


def is_as_jupyter_writes_it(path: Path) -> bool:
    """Whether the file is valid, and is what Jupyter itself would have written. Raises if it is not valid."""
    notebook: Any = nbformat.read(path, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]  # no types
    nbformat.validate(notebook)
    expected: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]  # it has none
    return path.read_text(encoding="utf-8") == f"{expected}\n"


async def ask(runtime: Runtime, action: str, path: Path | str, **params: Any) -> ToolResult:
    """Call the tool, within the patience of a test. Options of the context go by their names."""
    options = {name: params.pop(name) for name in ("owner", "on_update", "abort") if name in params}
    with anyio.fail_after(PATIENCE):
        given = {"action": action, "notebook_path": str(path), **params}
        return await runtime.tool("notebook", given, context=CallContext(**options))


def edit_details(result: ToolResult) -> NotebookDetails:
    """The details of a call that ran nothing."""
    assert isinstance(result.details, NotebookDetails), result.text
    return result.details


def run_details(result: ToolResult) -> NotebookRunDetails:
    """The details of a call that ran cells."""
    assert isinstance(result.details, NotebookRunDetails), result.text
    return result.details


class Asked:
    """A call under way in a task of its own."""

    def __init__(self) -> None:
        self.watcher = Watcher()
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()
        self._result: ToolResult | None = None

    async def run(self, runtime: Runtime, action: str, path: Path | str, params: dict[str, Any]) -> None:
        """The body of the task."""
        try:
            with self.scope:
                self._result = await ask(runtime, action, path, on_update=self.watcher, **params)
        finally:
            self.ended.set()

    async def settled(self) -> None:
        """Wait until the task is over, with or without a result."""
        with anyio.fail_after(PATIENCE):
            await self.ended.wait()

    async def finish(self) -> ToolResult:
        """The result, once it is there."""
        await self.settled()
        assert self._result is not None
        return self._result


def begin_asking(group: TaskGroup, runtime: Runtime, action: str, path: Path | str, **params: Any) -> Asked:
    """Start a call and go on."""
    asked = Asked()
    group.start_soon(asked.run, runtime, action, path, params)
    return asked
