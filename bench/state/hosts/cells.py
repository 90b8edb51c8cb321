"""`1+1` in sessions whose state is kept after each cell, where it is cheap, or never; and rewriting memory in them.

python -m bench.state.hosts.cells INTERPRETER COUNT
"""

import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack

import anyio

from bench.state.hosts.timing import hand_over, timed
from pisces import Runtime

_MODES = ("auto", "always", "off")
_TURN = 20
_PAUSE_SECONDS = 0.02
_REWRITES = 8
_HOLD = "big = bytearray(100_000_000); zeros = bytes(len(big)); view = memoryview(big); view[:] = zeros"


async def _main(interpreter: str, count: int) -> None:
    async with AsyncExitStack() as stack:
        runtimes = {}
        for mode in _MODES:
            settings = {"python.interpreter": interpreter, "python.checkpoint": mode}
            runtimes[mode] = await stack.enter_async_context(Runtime(cwd="/", settings=settings))
        await _evaluate(runtimes, _TURN, pause=0)
        figures = {f"at once {mode}": taken for mode, taken in (await _evaluate(runtimes, count, pause=0)).items()}
        paused = await _evaluate(runtimes, count // 4, pause=_PAUSE_SECONDS)
        figures |= {f"paused {mode}": taken for mode, taken in paused.items()}
        figures |= {f"rewrite {mode}": taken for mode, taken in (await _rewrite(runtimes)).items()}
    hand_over(figures)


async def _evaluate(runtimes: Mapping[str, Runtime], count: int, *, pause: float) -> dict[str, list[float]]:
    """Seconds of each call, taking turns; with a pause before each, as when somebody thinks about the result."""
    seconds: dict[str, list[float]] = {mode: [] for mode in runtimes}
    while len(seconds[_MODES[-1]]) < count:
        for mode, runtime in runtimes.items():
            for _ in range(_TURN):
                await anyio.sleep(pause)
                seconds[mode].append(await timed(runtime.python(code="1+1"), "2"))
    return seconds


async def _rewrite(runtimes: Mapping[str, Runtime]) -> dict[str, list[float]]:
    """Seconds of cells that write 100 MB which they held before."""
    for runtime in runtimes.values():
        await timed(runtime.python(code=_HOLD))
    seconds: dict[str, list[float]] = {mode: [] for mode in runtimes}
    for _ in range(_REWRITES):
        for mode, runtime in runtimes.items():
            await anyio.sleep(_PAUSE_SECONDS * 5)  # Until a checkpoint of after the cell before has been made.
            seconds[mode].append(await timed(runtime.python(code="view[:] = zeros")))
    return seconds


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], int(sys.argv[2]))
