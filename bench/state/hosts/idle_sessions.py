"""The memory of sessions that have run one cell and wait, with everything that is kept for them.

python -m bench.state.hosts.idle_sessions INTERPRETER COUNT MODE
"""

import sys

import anyio

from bench.state.hosts.memory_below import processes_below, pss_below
from bench.state.hosts.timing import hand_over, timed
from pisces import Runtime

_SETTLE_SECONDS = 1.0


async def _main(interpreter: str, count: int, mode: str) -> None:
    settings = {"python.interpreter": interpreter, "python.maxSessions": count, "python.checkpoint": mode}
    async with Runtime(cwd="/", settings=settings) as runtime:
        for number in range(count):
            await timed(runtime.python(code="1+1", session=f"idle-{number}"), "2")
        await anyio.sleep(_SETTLE_SECONDS)  # Until the last checkpoint sleeps and nothing is under way.
        hand_over({"pss": [pss_below()], "processes": [len(processes_below())]})


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], int(sys.argv[2]), sys.argv[3])
