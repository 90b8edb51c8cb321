"""State lasts from call to call; a cell that fails stops its call and costs nothing else.

Prints:

    error ['complete', 'error']
    Cell 2 failed (exit code 1). Earlier cells succeeded; their state persists. Fix only cell 2.
    7
"""

import asyncio

from pisces import Runtime


async def main() -> None:
    """Three calls in one session."""
    async with Runtime() as rt:
        await rt.python(code="prices = {'tea': 3, 'cake': 4}")
        failed = await rt.python(cells=[{"code": "total = sum(prices.values())"}, {"code": "prices['pie']"}])
        print(failed.details.outcome, [cell.status for cell in failed.details.cells])
        print(failed.text.splitlines()[-1])
        print((await rt.python(code="total")).text)


asyncio.run(main())
