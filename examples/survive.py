"""A kernel crashes: the result says so, and the next call finds what was there before.

Prints:

    crashed restored exact 0
    [State: restored] The kernel was ended by SIGKILL. The state was restored exactly, ...
    42 kept 2
"""

import asyncio

from pisces import Runtime


async def main() -> None:
    """Lose a process, and nothing else."""
    async with Runtime() as rt:
        await rt.python(code="x = 41")
        crashed = await rt.python(code="x = None; import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        kernel = crashed.details.kernel
        print(crashed.details.outcome, kernel.state, kernel.restore.how, kernel.restore.cells_lost)
        print(crashed.text.splitlines()[0])
        again = await rt.python(code="x + 1")
        print(again.text, again.details.kernel.state, again.details.kernel.generation)


asyncio.run(main())
