"""A kernel crashes: the result says so, and the next call goes on in a fresh one.

Prints:

    crashed lost 1
    [State: lost] The kernel was ended by SIGKILL. The state is lost: variables and imports are gone.
    False 2
"""

import asyncio

from pisces import Runtime


async def main() -> None:
    """Lose a kernel and see what is said about it."""
    async with Runtime() as rt:
        await rt.python(code="x = 41")
        crashed = await rt.python(code="import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        kernel = crashed.details.kernel
        print(crashed.details.outcome, kernel.state, kernel.generation)
        print(crashed.text.splitlines()[0])
        again = await rt.python(code="'x' in globals()")
        print(again.text, again.details.kernel.generation)


asyncio.run(main())
