"""A fresh Python each time, through the whole tool: as a new session, by `reset`, and in per-call mode.

python -m bench.state.hosts.new_session INTERPRETER COUNT
"""

import sys

import anyio

from bench.state.hosts.timing import hand_over, timed
from pisces import Runtime

_WARM_UP = 3


async def _new_sessions(interpreter: str, count: int) -> tuple[list[float], list[float]]:
    """Seconds for the first result of each new session, and for closing it."""
    first, closing = [], []
    async with Runtime(cwd="/", settings={"python.interpreter": interpreter}) as runtime:
        for number in range(_WARM_UP + count):
            session = f"new-{number}"
            first.append(await timed(runtime.python(code="1+1", session=session), "2"))
            closing.append(await timed(runtime.session("close", session=session)))
    return first[_WARM_UP:], closing[_WARM_UP:]


async def _resets(interpreter: str, count: int) -> list[float]:
    async with Runtime(cwd="/", settings={"python.interpreter": interpreter}) as runtime:
        return [await timed(runtime.python(code="1+1", reset=True), "2") for _ in range(_WARM_UP + count)][_WARM_UP:]


async def _calls(interpreter: str, count: int) -> list[float]:
    settings = {"python.interpreter": interpreter, "python.kernelMode": "per-call"}
    async with Runtime(cwd="/", settings=settings) as runtime:
        return [await timed(runtime.python(code="1+1"), "2") for _ in range(_WARM_UP + count)][_WARM_UP:]


async def _main(interpreter: str, count: int) -> None:
    first, closing = await _new_sessions(interpreter, count)
    hand_over(
        {
            "new": first,
            "close": closing,
            "reset": await _resets(interpreter, count),
            "per-call": await _calls(interpreter, count),
        }
    )


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], int(sys.argv[2]))
