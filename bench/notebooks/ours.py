"""Notebooks through the public library: one runtime, and its tools, in the process of their caller.

python -m bench.notebooks.ours edit|insert|read|write KIND PATH COUNT
python -m bench.notebooks.ours run|run-once INTERPRETER PATH
"""

import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import cast

import anyio

from bench.notebooks.samples import EDITED, Kind, edited_source, large_sources, write_trivial
from bench.notebooks.work import Step, hand_over, timed_steps
from pisces import Runtime, ToolResult


async def change(operation: str, kind: Kind, path: Path, count: int) -> None:
    """Do it to the large notebook, after it has been done to a small one: that loads what is loaded when needed."""
    small = path.with_name(f"small-{path.name}")
    write_trivial(small)
    async with Runtime(cwd=path.parent) as runtime:
        await _step(runtime, operation, small, ["x = 1"])(0)
        hand_over(await timed_steps(_step(runtime, operation, path, large_sources(kind)), count))


def _step(runtime: Runtime, operation: str, path: Path, sources: list[str]) -> Step:
    async def step(number: int) -> None:
        new = edited_source(number)
        if operation in ("edit", "insert"):
            await _done(runtime.notebook(operation, path, cell_index=EDITED, content=new))
        elif operation == "read":
            await _done(runtime.tool("read", {"path": str(path)}))
        else:
            text = "".join(
                f"# %% [code] cell:{index}\n{new if index == EDITED else source}\n"
                for index, source in enumerate(sources)
            )
            await _done(runtime.tool("write", {"path": str(path), "content": text}))

    return step


async def run(interpreter: str, path: Path) -> float:
    """Seconds from nothing but the imports to a notebook that has run, and a kernel that has ended."""
    began = time.perf_counter()
    async with Runtime(cwd=path.parent, settings={"python.interpreter": interpreter}) as runtime:
        await _done(runtime.notebook("run_all", path))
    return time.perf_counter() - began


async def _run_imported(interpreter: str, path: Path) -> None:
    small = path.with_name(f"small-{path.name}")
    write_trivial(small, 3)
    await run(interpreter, small)
    hand_over({"seconds": [await run(interpreter, path)]})


async def _done(call: Awaitable[ToolResult]) -> None:
    result = await call
    if result.is_error:
        raise RuntimeError(f"a call that is measured failed: {result.text}")


def main(operation: str, first: str, path: str, *count: str) -> None:
    if operation == "run":
        anyio.run(_run_imported, first, Path(path))
    elif operation == "run-once":
        anyio.run(run, first, Path(path))
    else:
        anyio.run(change, operation, cast(Kind, first), Path(path), int(count[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
