"""Runtimes on scripted kernels with several languages, and calls of the `eval` tool."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from pisces.kernels.memory import MemoryBackend
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.drive import PATIENCE, plain_environment
from tests.fakes.runtimes import Watcher

LANGUAGES = {"bash": "bash", "deno": "typescript", "tslab": "typescript"}
"""The kernelspecs of the tests: by name, the language of each."""


def speaking_runtime(
    backend: MemoryBackend, folder: Path, *, environ: Mapping[str, str] | None = None, **python: Any
) -> Runtime:
    """A runtime on scripted kernels that finds these kernelspecs; `python` are settings, by their own names."""
    for name, language in LANGUAGES.items():
        spec = folder / "jupyter" / "kernels" / name
        spec.mkdir(parents=True, exist_ok=True)
        content = {"argv": [name, "{connection_file}"], "language": language, "display_name": name}
        (spec / "kernel.json").write_text(json.dumps(content), encoding="utf-8")
    whole = plain_environment(
        HOME=str(folder),
        PISCES_HOME=str(folder / ".pisces"),
        PI_PYTHON_SKIP_CHECK="1",
        JUPYTER_PATH=str(folder / "jupyter"),
        **(environ or {}),
    )
    settings = {"python": {"interpreter": sys.executable, **python}}
    return Runtime(cwd=folder, settings=settings, environ=whole, backend=backend)


Cells = list[tuple[str, str]] | list[dict[str, Any]]
"""Each a language and code, or a cell as the tool takes it."""


async def evaluate(runtime: Runtime, cells: Cells, *, session: str | None = None, **context: Any) -> ToolResult:
    """Call the `eval` tool, within the patience of a test; `context` are options of the context."""
    params: dict[str, Any] = {"cells": [_cell(cell) for cell in cells]}
    if session is not None:
        params["session"] = session
    with anyio.fail_after(PATIENCE):
        return await runtime.tool("eval", params, context=CallContext(**context))


def _cell(cell: tuple[str, str] | dict[str, Any]) -> dict[str, Any]:
    return cell if isinstance(cell, dict) else {"language": cell[0], "code": cell[1]}


class Evaluation:
    """A call of `eval` under way in a task of its own."""

    def __init__(self) -> None:
        self.watcher = Watcher()
        self.scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._result: ToolResult | None = None

    async def run(self, runtime: Runtime, cells: Cells, options: dict[str, Any]) -> None:
        """The body of the task."""
        try:
            with self.scope:
                self._result = await evaluate(runtime, cells, on_update=self.watcher, **options)
        finally:
            self._ended.set()

    async def settled(self) -> None:
        """Wait until the task is over, with or without a result."""
        with anyio.fail_after(PATIENCE):
            await self._ended.wait()

    async def finish(self) -> ToolResult:
        """The result, once it is there."""
        await self.settled()
        assert self._result is not None
        return self._result


def begin_evaluation(group: TaskGroup, runtime: Runtime, cells: Cells, **options: Any) -> Evaluation:
    """Start a call and go on."""
    evaluation = Evaluation()
    group.start_soon(evaluation.run, runtime, cells, options)
    return evaluation
