"""A cell that kills its own process, and the next call, which finds the state of before.

python -m bench.state.hosts.crash INTERPRETER COUNT
"""

import sys
import time

import anyio

from bench.state.hosts.timing import hand_over, timed
from pisces import Runtime

_WARM_UP = 2
_CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"


async def _crash(runtime: Runtime) -> float:
    began = time.perf_counter()
    result = await runtime.python(code=_CRASH)
    taken = time.perf_counter() - began
    kernel = result.details.kernel
    if result.details.outcome != "crashed" or kernel is None or kernel.state != "restored":
        raise RuntimeError(f"a crash ended as {result.details.outcome}: {result.text}")
    return taken


async def _main(interpreter: str, count: int) -> None:
    crashing, following = [], []
    async with Runtime(cwd="/", settings={"python.interpreter": interpreter}) as runtime:
        await timed(runtime.python(code="x = 41"))
        for _ in range(_WARM_UP + count):
            crashing.append(await _crash(runtime))
            following.append(await timed(runtime.python(code="x + 1"), "42"))
    both = [crash + after for crash, after in zip(crashing, following, strict=True)]
    hand_over(
        {"crash": crashing[_WARM_UP:], "next": following[_WARM_UP:], "both": both[_WARM_UP:]},
    )


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], int(sys.argv[2]))
