"""The host process of one subject: takes orders on standard input, answers with what it measured, one JSON a line.

python -m bench.subjects.serve (pisces INTERPRETER [CHECKPOINT [BACKEND]] | pisces-external INTERPRETER [OPTION]... |
                                ipykernel | pipe BUFFER_BYTES)
"""

import gc
import sys
import time
from typing import Any

import anyio
import msgspec

from bench.subjects.base import Subject
from bench.subjects.memory import MemoryWatch


def make_subject(kind: str, *arguments: str) -> Subject:
    """Imports only what this subject needs."""
    if kind == "pisces":
        from bench.subjects.pisces_subject import PiscesSubject

        return PiscesSubject(*arguments)
    if kind == "pisces-external":
        from bench.jupyter.on_stock import OnStockSubject

        return OnStockSubject(*arguments)
    if kind == "ipykernel":
        from bench.subjects.ipykernel_subject import IpykernelSubject

        return IpykernelSubject()
    if kind == "pipe":
        from bench.subjects.pipe_subject import PipeSubject

        return PipeSubject(*arguments)
    raise ValueError(f"there is no subject {kind!r}: choose pisces, pisces-external, ipykernel or pipe")


async def _round_trips(subject: Subject, count: int) -> list[float]:
    """Seconds that each of so many evaluations took."""
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        answer = await subject.evaluate("1+1")
        seconds.append(time.perf_counter() - began)
        if answer != "2":
            raise RuntimeError(f"1+1 gave {answer!r}")
    return seconds


async def _output(subject: Subject, code: str) -> dict[str, Any]:
    """Seconds and megabytes that an output took, and what the host has of it."""
    gc.collect()
    memory = MemoryWatch()
    began = time.perf_counter()
    await subject.print_much(code)
    seconds = time.perf_counter() - began
    growth = memory.growth()
    return {"seconds": seconds, "growth_mb": growth, **msgspec.to_builtins(subject.received())}


async def _serve(subject: Subject) -> None:
    await subject.start()
    try:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            order = msgspec.json.decode(line)
            if "round_trips" in order:
                answer: Any = await _round_trips(subject, order["round_trips"])
            else:
                answer = await _output(subject, order["output"])
            sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
            sys.stdout.flush()
    finally:
        await subject.stop()


if __name__ == "__main__":
    anyio.run(_serve, make_subject(*sys.argv[1:]))
