"""The same with nbformat and nbclient, with Python's own json, and with the bare file, as one would write it.

python -m bench.notebooks.theirs nbformat|json|file edit|insert|read|write KIND PATH COUNT
python -m bench.notebooks.theirs nbclient run|run-once PATH
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from bench.notebooks.samples import EDITED, Kind, edited_source, large_sources, write_trivial
from bench.notebooks.work import Step, hand_over, timed_steps

Once = Callable[[str, Path, list[str], str], None]
"""Does an operation once; the sources are those to write, and the last is the new one."""


async def change(subject: str, operation: str, kind: Kind, path: Path, count: int) -> None:
    small = path.with_name(f"small-{path.name}")
    write_trivial(small)
    once = _SUBJECTS[subject]
    once(operation, small, ["x = 1"] * 100, "x = 2")
    hand_over(await timed_steps(_step(once, operation, path, large_sources(kind)), count))


def _step(once: Once, operation: str, path: Path, sources: list[str]) -> Step:
    async def step(number: int) -> None:
        once(operation, path, sources, edited_source(number))

    return step


def with_nbformat(operation: str, path: Path, sources: list[str], new: str) -> None:
    """Read, change and write, with the checks that these include. Nothing is synced, and nothing is atomic."""
    nbformat: Any = import_module("nbformat")  # Not for json and the bare file, whose memory is measured too.
    notebook = nbformat.read(path, as_version=4)
    if operation == "read":
        _text([cell.source for cell in notebook.cells])
        return
    if operation == "insert":
        notebook.cells.insert(EDITED, nbformat.v4.new_code_cell(new))
    else:
        for index in range(len(sources)) if operation == "write" else (EDITED,):
            notebook.cells[index].source = new if index == EDITED else sources[index]
    nbformat.write(notebook, path)


def with_json(_operation: str, path: Path, _sources: list[str], new: str) -> None:
    """An edit without any check of what is a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][EDITED]["source"] = new.splitlines(keepends=True)
    text = json.dumps(notebook, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def with_file(_operation: str, path: Path, _sources: list[str], _new: str) -> None:
    """Nothing but the bytes: read, written beside it, synced and renamed. The least that a safe edit can cost."""
    beside = path.with_name(f"new-{path.name}")
    with beside.open("wb") as file:
        file.write(path.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


_SUBJECTS: dict[str, Once] = {"nbformat": with_nbformat, "json": with_json, "file": with_file}


def _text(sources: list[str]) -> str:
    return "".join(f"# %% [code] cell:{index}\n{source}\n" for index, source in enumerate(sources))


def run(path: Path) -> float:
    """Seconds from nothing but the imports to a notebook that has run, and a kernel that has ended."""
    nbformat: Any = import_module("nbformat")
    client: Any = import_module("nbclient").NotebookClient
    began = time.perf_counter()
    notebook = nbformat.read(path, as_version=4)
    client(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    nbformat.write(notebook, path)
    return time.perf_counter() - began


def _run_imported(path: Path) -> None:
    small = path.with_name(f"small-{path.name}")
    write_trivial(small, 3)
    run(small)
    hand_over({"seconds": [run(path)]})


def main(subject: str, operation: str, *arguments: Any) -> None:
    if operation == "run":
        _run_imported(Path(arguments[0]))
    elif operation == "run-once":
        run(Path(arguments[0]))
    else:
        kind, path, count = arguments
        asyncio.run(change(subject, operation, cast(Kind, kind), Path(path), int(count)))


if __name__ == "__main__":
    main(*sys.argv[1:])
