"""Two ways on from one state, at the same time: each in a branch, which costs milliseconds whatever came before.

Prints:

    {'first': 4, 'smallest': 1}
    [4, 8, 1]
"""

import asyncio

from pisces import Runtime

WAYS = {"first": "data.pop(0)", "smallest": "data.sort(); data.pop(0)"}


async def main() -> None:
    """Try each way in a branch of its own; the session that they came from does not notice."""
    async with Runtime() as rt:
        await rt.python(code="data = [4, 8, 1]")
        for name in WAYS:
            await rt.session("branch", to=name)
        tries = await asyncio.gather(*(rt.python(code=code, session=name) for name, code in WAYS.items()))
        print({name: int(result.text) for name, result in zip(WAYS, tries, strict=True)})
        print((await rt.python(code="data")).text)


asyncio.run(main())
