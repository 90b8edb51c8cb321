"""Threads that print beside each other, across cells and interrupts: nothing is lost, and each keeps its own order."""

import re

import pytest

from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import begin, ok, run, stop
from tests.integration.native.conftest import StartKernel

LINES = 4000
START = f"""
import sys, threading, time

def talk(name, stream):
    for number in range({LINES}):
        print(f"<{{name}}{{number}}>", file=stream)
        if number % 500 == 0:
            time.sleep(0.002)

talkers = [("a", sys.stdout), ("b", sys.stderr), ("c", sys.stdout)]
threads = [threading.Thread(target=talk, args=talker) for talker in talkers]
for thread in threads:
    thread.start()
"""


def said(name: str, text: str) -> list[int]:
    return [int(number) for number in re.findall(rf"<{name}(\d+)>", text)]


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


async def test_threads_that_print_beside_each_other_and_interrupted_cells_lose_nothing(kernel: NativeKernel) -> None:
    for _ in range(12):
        ran = [await ok(kernel, START)]
        for code in ("while True:\n    print('cell')", "while True:\n    print('cell'); time.sleep(0.001)"):
            ran += [await stop(kernel, await begin(kernel, code)), await run(kernel, "1 / 0")]
        ran.append(await ok(kernel, "for thread in threads:\n    thread.join()"))
        out, err = "".join(cell.stdout for cell in ran), "".join(cell.stderr for cell in ran)
        assert (said("a", out), said("b", err), said("c", out)) == (list(range(LINES)),) * 3


async def test_a_sleep_that_a_cell_made_to_wait_for_nothing_keeps_no_thread_busy(kernel: NativeKernel) -> None:
    await ok(kernel, "import os, time\nwait, time.sleep = time.sleep, lambda seconds: None\nbegan = os.times()")
    ran = await ok(kernel, "wait(0.5)\nused = os.times()\nprint(used.user + used.system - began.user - began.system)")
    assert float(ran.stdout) < 0.25
