"""Runs notebooks with nbclient or papermill, as a program of the interpreter that has them.

Its arguments are which of the two, and a folder for what comes of it. Standard input names the notebooks, one a line;
the folder then has each under its number, from 0, and beside it the error that ended it, if one did.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

AT_ONCE = 2


async def with_nbclient(source: Path, target: Path) -> None:
    import nbformat
    from nbclient import NotebookClient  # type: ignore[import-not-found]  # it is in the other interpreter

    notebook = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    resources = {"metadata": {"path": str(source.parent)}}
    # By default nbclient gives up output that comes more than 4 s late, as on a busy machine.
    client = NotebookClient(notebook, kernel_name="python3", resources=resources, iopub_timeout=60)
    try:
        await client.async_execute()
    finally:
        await asyncio.to_thread(target.write_text, json.dumps(notebook), encoding="utf-8")


async def with_papermill(source: Path, target: Path) -> None:
    import papermill  # type: ignore[import-not-found]  # it is in the other interpreter

    def execute() -> Any:
        return papermill.execute_notebook(
            str(source), str(target), kernel_name="python3", cwd=str(source.parent), progress_bar=False
        )

    await asyncio.to_thread(execute)


PROGRAMS = {"nbclient": with_nbclient, "papermill": with_papermill}


async def run_all(program: str, target: Path, sources: list[Path]) -> None:
    """Run them; an error of a notebook is written beside it."""
    places = asyncio.Semaphore(AT_ONCE)

    async def run(number: int, source: Path) -> None:
        async with places:
            failure = ""
            try:
                await PROGRAMS[program](source, target / f"{number}.ipynb")
            except Exception as error:  # noqa: BLE001 - what ended the notebook is told, whatever it is
                failure = f"{type(error).__name__}: {error}"
            (target / f"{number}.failure").write_text(failure, encoding="utf-8")

    await asyncio.gather(*(run(number, source) for number, source in enumerate(sources)))


if __name__ == "__main__":
    named = [Path(line) for line in sys.stdin.read().splitlines()]
    asyncio.run(run_all(sys.argv[1], Path(sys.argv[2]), named))
