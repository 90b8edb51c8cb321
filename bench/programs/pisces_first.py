"""The shortest program that gets a result from Pisces: prints it, then leaves in good order."""

import sys

import anyio

from pisces import Runtime


async def _main() -> None:
    async with Runtime(settings={"python.interpreter": sys.argv[1]}) as runtime:
        result = await runtime.python(code="1+1")
        print(result.text, flush=True)


anyio.run(_main)
