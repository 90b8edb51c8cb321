"""What becomes of objects in sessions of Pisces: after an undo, and after the kernel was killed.

python -m bench.state.hosts.objects_of_pisces INTERPRETER [PART-OF-A-NAME]
"""

import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import psutil

from bench.state.hosts.timing import hand_over
from bench.state.objects.cases import all_cases
from bench.state.objects.journey import CELL_SECONDS, CellAnswer, Session, Way, WayBack, travel_all
from pisces import Runtime, ToolResult

_CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
_NOT_KEPT = "No checkpoint was made"
_X = re.compile(r"(?<![\w'])x(?![\w'])")


class PiscesSession:
    """A session of a runtime, named for its folder."""

    def __init__(self, runtime: Runtime, folder: Path) -> None:
        self._runtime = runtime
        self._folder = folder
        self._cells = 0
        self._pid = 0
        self._said: list[str] = []

    async def open(self) -> None:
        """The first cell: the kernel is there, and its number is known."""
        first = await self._python("import os; print(os.getpid())", CELL_SECONDS, cwd=self._folder)
        self._pid = int(first.details.cells[0].output)

    async def run(self, code: str, seconds: float) -> CellAnswer:
        began = time.perf_counter()
        result = await self._python(code, seconds)
        taken = time.perf_counter() - began
        self._cells += 1
        details = result.details
        printed = "".join(cell.output for cell in details.cells)
        trouble = "" if details.outcome == "ok" else f"{details.outcome}: {result.text[-300:]}"
        return CellAnswer(printed, trouble, taken, hung=details.outcome not in {"ok", "error", "crashed"})

    async def mark(self) -> None:
        self._cells, self._said = 0, []

    def kept_bytes(self) -> int:
        """The memory of a sleeping copy: of what processes share, each counts its part."""
        held = [self._held_by_copy(process) for process in psutil.Process().children(recursive=True)]
        copies = [size for size in held if size]
        return sum(copies) // len(copies) if copies else 0

    async def bring_back(self, way: Way) -> WayBack:
        began = time.perf_counter()
        if way == "anew":
            result = await self._python(_CRASH, CELL_SECONDS)
            kernel = result.details.kernel
            restore = None if kernel is None else kernel.restore
            failed = kernel is None or kernel.state != "restored"
            missing = [] if restore is None else list(restore.missing)
        else:
            result = await self._runtime.session("undo", session=self._folder.name, steps=self._cells)
            failed, missing = result.is_error, result.details.missing
        taken = time.perf_counter() - began
        return WayBack(failed or any(names_x(item) for item in missing), result.text, taken)

    def warned(self) -> str:
        return "; ".join(self._said)

    async def _python(self, code: str, seconds: float, cwd: Path | None = None) -> ToolResult:
        """Run a cell. What its result says of the state beyond the restore that was asked for is remembered."""
        result = await self._runtime.python(code=code, session=self._folder.name, timeout=seconds, cwd=cwd)
        self._said += [notice for notice in result.details.notices if _NOT_KEPT in notice]
        return result

    def _held_by_copy(self, process: psutil.Process) -> int:
        try:
            if process.pid == self._pid or process.cwd() != str(self._folder):
                return 0
            return int(process.memory_full_info().pss)
        except psutil.Error:  # It has ended since it was found.
            return 0


def names_x(missing: str) -> bool:
    """Whether this part of what did not come back is about the variable `x`; why it did not is in parentheses."""
    return _X.search(missing.partition(" (")[0]) is not None


async def _main(interpreter: str, part: str) -> None:
    settings = {"python.interpreter": interpreter, "python.checkpoint": "always", "python.maxTimeout": 600}
    async with Runtime(cwd="/", settings=settings) as runtime:

        @asynccontextmanager
        async def sessions(folder: Path) -> AsyncIterator[Session]:
            session = PiscesSession(runtime, folder)
            await session.open()
            try:
                yield session
            finally:
                await runtime.session("close", session=folder.name)

        cases = [case for case in all_cases() if part in f"{case.kind}: {case.name}"]
        found = await travel_all(cases, sessions)
    hand_over({"found": msgspec.to_builtins(found)})


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
