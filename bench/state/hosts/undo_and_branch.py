"""Taking a cell back, and branching a session, above states that took more or less to come by.

python -m bench.state.hosts.undo_and_branch INTERPRETER COUNT
"""

import sys
from itertools import count as numbers

import anyio

from bench.state.hosts.timing import hand_over, timed
from pisces import Runtime

_STATES = {
    "small": "x = 1",
    "worked": "import time\nx = 0\nend = time.process_time() + 2\nwhile time.process_time() < end: x += 1",
    "big": "x = b'x' * 100_000_000",
}
_NAMES = numbers()


async def _undo(runtime: Runtime, session: str) -> float:
    await timed(runtime.python(code="y = 2", session=session))
    return await timed(runtime.session("undo", session=session))


async def _branch(runtime: Runtime, session: str) -> tuple[float, float]:
    """Seconds until there is a branch, and until it gave its first result."""
    branch = f"branch-{next(_NAMES)}"
    taken = await timed(runtime.session("branch", session=session, to=branch))
    first = await timed(runtime.python(code="bool(x)", session=branch), "True")
    await timed(runtime.session("close", session=branch))
    return taken, taken + first


async def _main(interpreter: str, count: int) -> None:
    figures: dict[str, list[float]] = {
        f"{kind} {state}": [] for state in _STATES for kind in ("undo", "branch", "used")
    }
    settings = {"python.interpreter": interpreter, "python.checkpoint": "always"}
    async with Runtime(cwd="/", settings=settings) as runtime:
        for state, code in _STATES.items():
            await timed(runtime.python(code=code, session=state))
        for _ in range(count):
            for state in _STATES:
                figures[f"undo {state}"].append(await _undo(runtime, state))
                branched, used = await _branch(runtime, state)
                figures[f"branch {state}"].append(branched)
                figures[f"used {state}"].append(used)
    hand_over(figures)


if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], int(sys.argv[2]))
