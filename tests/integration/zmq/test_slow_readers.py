"""Whoever does not keep up with a kernel slows it down: nothing is lost, nothing piles up, and it can be stopped."""

from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.kernel import JupyterKernel
from pisces.kernels.zmq.backend import ZmqBackend
from tests.fakes.drive import PATIENCE, begin, eventually, ok, stands_still, stop, value
from tests.integration.zmq.conftest import MakeSpec

pytestmark = pytest.mark.heavy

LINES = 300_000
FLOOD = f"x = 41\nfor number in range({LINES}): print(number, 'x' * 1000)"
"""300 MB."""
MUCH = 100 << 20


@pytest.fixture
async def kernel(make_spec: MakeSpec) -> AsyncIterator[JupyterKernel]:
    made = ZmqBackend().kernel(make_spec())
    await made.start(Deadline.after(PATIENCE))
    yield made
    await made.shutdown()


async def test_a_flood_that_nobody_reads_waits_where_it_comes_from(kernel: JupyterKernel) -> None:
    host, process = psutil.Process(), psutil.Process(int(await value(kernel, "__import__('os').getpid()")))
    before = [one.memory_info().rss for one in (host, process)]
    running = await begin(kernel, FLOOD)
    await running.started()
    await stands_still(process)
    grown = [one.memory_info().rss - rss for one, rss in zip((host, process), before, strict=True)]
    assert max(grown) < MUCH
    ran = await stop(kernel, running)
    assert (ran.done.status, ran.done.state) == ("interrupted", "kept")
    assert await value(kernel, "x + 1") == "42"


async def test_a_slow_reader_gets_everything(kernel: JupyterKernel) -> None:
    process = psutil.Process(int(await value(kernel, "__import__('os').getpid()")))
    running = await begin(kernel, "for number in range(50_000): print(number, 'x' * 1000)")
    await running.started()
    await stands_still(process)
    ran = await running.finish()
    assert ran.stdout.replace("x", "") == "".join(f"{number} \n" for number in range(50_000))


async def test_a_kernel_that_talks_between_cells_ends_in_good_order(kernel: JupyterKernel, tmp_path: Path) -> None:
    talked = tmp_path / "talked"
    code = f"""
import pathlib, threading
def talk():
    for number in range(100): print(number, flush=True)
    pathlib.Path({str(talked)!r}).touch()
    for number in range(2_000): print('x' * 1000, flush=True)
threading.Thread(target=talk).start()
"""
    process = psutil.Process(int(await value(kernel, "__import__('os').getpid()")))
    await ok(kernel, code)
    await eventually(talked.exists)
    await stands_still(process)
    await kernel.shutdown()
    assert kernel.ended is not None
    assert (kernel.ended.code, kernel.ended.signal) == (0, None)
