"""Hear of a call while it runs, and stop it: the cell is interrupted and the state is kept.

Prints:

    interrupted kept
    True
"""

import asyncio

import anyio

from pisces import Runtime, Update

CODE = """\
import time
for step in range(1000):
    print("step", step)
    time.sleep(0.1)
"""


async def main() -> None:
    """Stop as soon as the third step has been seen."""
    abort = anyio.Event()

    def on_update(update: Update) -> None:
        if "step 2" in update.tail:
            abort.set()

    async with Runtime() as rt:
        stopped = await rt.python(code=CODE, on_update=on_update, abort=abort)
        print(stopped.details.outcome, stopped.details.kernel.state)
        print((await rt.python(code="step > 1")).text)


asyncio.run(main())
