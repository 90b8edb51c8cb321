"""Cells that call a tool of their host, and the same code against another server; prints what each took.

python -m bench.programs.bridge_calls INTERPRETER URL ROUNDS
"""

import json
import sys
from typing import Any

import anyio

from pisces import Runtime

_CALLS = 1000
_SETUP = """
import json, os, threading, time
addresses = {"bridge": os.environ["PI_TOOL_BRIDGE_URL"], "bare": %r}

def at_once(count):
    values = {}
    def ask(n):
        values[n] = tool.echo(n=n)
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(count)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began, count - sum(values.get(n) == n for n in range(count))

def one_by_one(count):
    taken = []
    for n in range(count):
        began = time.perf_counter()
        assert tool.echo(n=n) == n
        taken.append(time.perf_counter() - began)
    return taken
"""
_RUN = "os.environ['PI_TOOL_BRIDGE_URL'] = addresses[%r]; print(json.dumps(%s))"
_SECONDS = 120.0


async def main(interpreter: str, url: str, rounds: int) -> dict[str, Any]:
    figures: dict[str, Any] = {who: {"seconds": [], "lost": 0, "single": []} for who in ("bridge", "bare")}
    async with Runtime(cwd="/", settings={"python.interpreter": interpreter}) as runtime:

        @runtime.register
        async def echo(n: int) -> int:
            """Say it again."""
            return n

        async def ask(who: str, what: str) -> Any:
            result = await runtime.python(code=_RUN % (who, what), timeout=_SECONDS)
            if result.is_error:
                raise RuntimeError(result.text)
            return json.loads(result.text.partition("\n")[0])

        await runtime.python(code=_SETUP % url)
        for round_number in range(rounds + 1):
            for who, figure in figures.items():
                seconds, lost = await ask(who, f"at_once({_CALLS})")
                single = await ask(who, "one_by_one(100)")
                if round_number:  # The first fills caches, and loads what reads HTTP.
                    figure["seconds"].append(seconds)
                    figure["single"] += single
                figure["lost"] += lost
    return figures


if __name__ == "__main__":
    print(json.dumps(anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]))))
