"""Programs on notebooks that tests run in processes of their own: `python -m tests.fakes.notebook_processes NAME …`.

Each prints what became of it as JSON. They may be killed, run out of disk, or be measured.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio

from pisces.runtime import Runtime
from tests.fakes.notebooks import ask, code, edit_details, state_of, text_in, written
from tests.fakes.runtimes import call, runtime_on, scripted_runtime

PADDING: Final = 60_000
"""Characters in the notebook of `full`, so that there is no room for two of it."""


async def full_by_limit(folder: Path, interpreter: str) -> dict[str, Any]:
    """No file may get longer than the notebook is."""
    file = _padded(folder)

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, resource.RLIM_INFINITY))

    def free() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    return await _full(file, interpreter, fill, free)


async def full_by_size(folder: Path, interpreter: str) -> dict[str, Any]:
    """The folder is a disk with room for two such notebooks, on which something else lies until it is removed."""
    file = _padded(folder)
    filler = folder / "filler"

    def fill() -> None:
        filler.write_bytes(b"x" * PADDING)

    return await _full(file, interpreter, fill, filler.unlink)


def _padded(folder: Path) -> Path:
    return written(folder / "a.ipynb", code("print('x' * 1000)", metadata={"padding": "x" * PADDING}))


async def _full(file: Path, interpreter: str, fill: Callable[[], None], free: Callable[[], None]) -> dict[str, Any]:
    folder = Path(os.environ["HOME"])
    async with runtime_on(interpreter, folder) as runtime:
        await call(runtime, "pass")
        fill()
        before = state_of(file)
        answers = [
            await ask(runtime, "edit", file, cell_index=0, content="y" * 2000),
            await ask(runtime, "insert", file, content="y" * 2000),
            await ask(runtime, "run_all", file),
        ]
        found = {
            "same": state_of(file) == before,
            "beside": sorted(set(os.listdir(file.parent)) - {file.name, "filler"}),
            "errors": [answer.is_error for answer in answers],
            "texts": [answer.text for answer in answers],
        }
        free()
        again = await ask(runtime, "run_all", file)
    return {**found, "again": again.is_error, "printed": text_in(file, 0)}


async def killed_before_rename(file: Path) -> dict[str, Any]:
    """The process ends when the new notebook is complete and has not taken the place of the old one."""

    def killed(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async with _without_kernels() as runtime:
        os.rename = killed
        answer = await ask(runtime, "edit", file, cell_index=0, content="never")
    return {"text": answer.text}


async def run_all(file: Path, interpreter: str) -> dict[str, Any]:
    """Run a notebook in a runtime of this process, and measure it."""
    folder = Path(os.environ["HOME"])
    async with runtime_on(interpreter, folder) as runtime:
        answer = await ask(runtime, "run_all", file)
        assert runtime._services is not None
        artifact = getattr(answer.details, "artifact_id", None)
        kept = runtime._services.artifacts.path(artifact).stat().st_size if artifact else 0
    return {"error": answer.is_error, "text": answer.text, "artifact": artifact, "kept": kept, "peak": peak_bytes()}


async def insert(file: Path, name: str, count: str) -> dict[str, Any]:
    """Insert cells at the top, one after the other, when somebody says so."""
    async with _without_kernels() as runtime:
        print("ready", flush=True)
        sys.stdin.readline()
        texts = [
            (await ask(runtime, "insert", file, cell_index=0, content=f"{name}{number}")).text
            for number in range(int(count))
        ]
    return {"texts": texts}


async def edit_and_insert(file: Path) -> dict[str, Any]:
    """Change one cell and add another."""
    async with _without_kernels() as runtime:
        before = peak_bytes()
        edited = await ask(runtime, "edit", file, cell_index=50, content="changed")
        inserted = await ask(runtime, "insert", file, cell_index=10, content="new")
        total = edit_details(inserted).total_cells
    return {"texts": [edited.text, inserted.text], "total": total, "before": before, "peak": peak_bytes()}


def _without_kernels() -> Runtime:
    return scripted_runtime({}, Path(os.environ["HOME"]))


def peak_bytes() -> int:
    """The most memory that this program has had; what it was forked from does not count."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the peak can be read on Linux only")


PROGRAMS: Final[dict[str, Callable[..., Awaitable[dict[str, Any]]]]] = {
    program.__name__: program
    for program in (full_by_limit, full_by_size, killed_before_rename, run_all, insert, edit_and_insert)
}


def main(name: str, path: str, *others: str) -> None:
    """Run one of the programs."""
    found = anyio.run(lambda: PROGRAMS[name](Path(path), *others))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
