"""A fresh ipykernel each time, from `start_kernel` to the first result; and after a crash, from the crash on.

python -m bench.state.hosts.ipykernel_start COUNT
"""

import sys
import time

import anyio

from bench.state.hosts.timing import hand_over
from bench.subjects.ipykernel_subject import IpykernelSubject


async def _start() -> float:
    subject = IpykernelSubject()
    began = time.perf_counter()
    await subject.start()
    answer = await subject.evaluate("1+1")
    taken = time.perf_counter() - began
    await subject.stop()
    if answer != "2":
        raise RuntimeError(f"1+1 gave {answer!r}")
    return taken


async def _main(count: int) -> None:
    hand_over({"ipykernel": [await _start() for _ in range(count)]})


if __name__ == "__main__":
    anyio.run(_main, int(sys.argv[1]))
