"""Try a program that embeds Pisces without starting a process: a script says what each cell does.

Prints:

    hello
    42
    crashed 139
"""

import asyncio
from collections.abc import Mapping, Sequence

from pisces import Runtime
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.memory_script import Die, Step
from pisces.model.events import Result, Stream

SCRIPT: Mapping[str, Sequence[Step]] = {
    "greet()": [Stream("stdout", "hello\n"), Result({"text/plain": "42"})],
    "crash()": [Die(signal=11)],
}


async def main() -> None:
    """Everything above the kernel is real: sessions, output, results."""
    async with Runtime(backend=MemoryBackend(SCRIPT)) as rt:
        print((await rt.python(code="greet()")).text)
        crashed = await rt.python(code="crash()")
        print(crashed.details.outcome, crashed.details.cells[0].exit_code)


asyncio.run(main())
