"""The memory of ipykernels that have run one cell and wait.

python -m bench.state.hosts.idle_ipykernels COUNT
"""

import sys

import anyio

from bench.state.hosts.memory_below import processes_below, pss_below
from bench.state.hosts.timing import hand_over
from bench.subjects.ipykernel_subject import IpykernelSubject


async def _main(count: int) -> None:
    subjects = [IpykernelSubject() for _ in range(count)]
    try:
        for subject in subjects:
            await subject.start()
            await subject.evaluate("1+1")
        hand_over({"pss": [pss_below()], "processes": [len(processes_below())]})
    finally:
        for subject in subjects:
            await subject.stop()


if __name__ == "__main__":
    anyio.run(_main, int(sys.argv[1]))
