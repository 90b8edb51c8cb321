"""The shortest program that gets a result from Pisces: prints it, then leaves in good order.

python -m bench.programs.pisces_first INTERPRETER [BACKEND]
"""

import sys

import anyio

from pisces import Runtime


async def _main() -> None:
    settings = dict(zip(("python.interpreter", "python.backend"), sys.argv[1:], strict=False))
    async with Runtime(settings=settings) as runtime:
        result = await runtime.python(code="1+1")
        print(result.text, flush=True)


anyio.run(_main)
