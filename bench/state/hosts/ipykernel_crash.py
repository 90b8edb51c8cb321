"""An ipykernel that crashes, is started again at once, and gives a result, with nothing of what it knew.

python -m bench.state.hosts.ipykernel_crash COUNT
"""

import sys
import time

import anyio

from bench.state.hosts.timing import hand_over
from bench.subjects.ipykernel_subject import IpykernelSubject


async def _main(count: int) -> None:
    seconds = []
    subject = IpykernelSubject()
    await subject.start()
    try:
        for _ in range(count):
            began = time.perf_counter()
            await subject.crash_and_restart()
            await subject.evaluate("1+1")
            seconds.append(time.perf_counter() - began)
    finally:
        await subject.stop()
    hand_over({"ipykernel": seconds})


if __name__ == "__main__":
    anyio.run(_main, int(sys.argv[1]))
