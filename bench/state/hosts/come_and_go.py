"""Sessions that begin, run a cell and are closed, some at a time; and what is left of them.

python -m bench.state.hosts.come_and_go INTERPRETER COUNT AT_A_TIME
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import psutil

from bench.state.hosts.memory_below import processes_below
from bench.state.hosts.timing import hand_over, timed
from pisces import Runtime

_SETTLE_SECONDS = 5.0
_LOOK_SECONDS = 0.05
_SHARED_MEMORY = Path("/dev/shm")


class Left:
    """What there is of processes, descriptors and temporary files, compared with when this was made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = self._count()

    def since(self) -> dict[str, int]:
        """How many more there are; below 0 when there are fewer."""
        return {what: count - self._before[what] for what, count in self._count().items()}

    async def settled(self) -> dict[str, int]:
        """The same, once nothing is left, or a moment later: what is closed last has just been told to end."""
        until = time.monotonic() + _SETTLE_SECONDS
        while max(self.since().values()) > 0 and time.monotonic() < until:  # noqa: ASYNC110 - nobody tells of a process that ends
            await anyio.sleep(_LOOK_SECONDS)
        return self.since()

    def _count(self) -> dict[str, int]:
        files = sum(1 for _ in self._folder.rglob("*")) + sum(1 for _ in _SHARED_MEMORY.glob("*"))
        return {"processes": len(processes_below()), "descriptors": psutil.Process().num_fds(), "files": files}


async def _come_and_go(runtime: Runtime, numbers: Iterator[int]) -> None:
    for number in numbers:
        session = f"passing-{number}"
        await timed(runtime.python(code="1+1", session=session), "2")
        await timed(runtime.session("close", session=session))


async def _main(interpreter: str, count: int, at_a_time: int, folder: Path) -> None:
    with_nothing = Left(folder)
    async with Runtime(cwd="/", settings={"python.interpreter": interpreter}) as runtime:
        await _come_and_go(runtime, iter(range(at_a_time)))
        left, numbers, began = Left(folder), iter(range(count)), time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(at_a_time):
                tasks.start_soon(_come_and_go, runtime, numbers)
        seconds = time.perf_counter() - began
        while_up = await left.settled()
    hand_over({"seconds": seconds, "while up": while_up, "afterwards": await with_nothing.settled()})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pisces-bench-passing-") as temporary:
        os.environ["TMPDIR"] = tempfile.tempdir = temporary
        anyio.run(_main, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(temporary))
