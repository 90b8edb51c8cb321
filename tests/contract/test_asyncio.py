"""The user's event loop: tasks go on between cells, and code that wants a loop of its own gets one."""

import pytest

from pisces.kernels.base import Kernel
from tests.fakes.drive import eventually, ok, run, value

pytestmark = pytest.mark.needs_shell


async def test_await_works_at_the_top_level(kernel: Kernel) -> None:
    code = "import asyncio\nasync def answer():\n    await asyncio.sleep(0)\n    return 42\nawait answer()"
    assert (await ok(kernel, code)).result == "42"


async def test_a_task_goes_on_between_cells(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> None:
    flag = tmp_path_factory.mktemp("task") / "flag"
    code = f"""
import asyncio, pathlib
async def later():
    await asyncio.sleep(0.02)
    pathlib.Path({str(flag)!r}).touch()
    return 'finished'
task = asyncio.get_event_loop().create_task(later())
"""
    await ok(kernel, code)
    await eventually(flag.exists)
    assert await value(kernel, "await task") == "'finished'"


async def test_asyncio_run_works_in_a_cell(kernel: Kernel) -> None:
    code = "import asyncio\nasync def main(): return await asyncio.sleep(0, 'ran')\nasyncio.run(main())"
    assert (await ok(kernel, code)).result == "'ran'"
    assert await value(kernel, "await asyncio.sleep(0, 'again')") == "'again'"


async def test_a_task_that_fails_between_cells_does_not_end_the_kernel(kernel: Kernel) -> None:
    code = """
import asyncio
async def fail(): raise SystemExit(5)
failing = asyncio.get_event_loop().create_task(fail())
"""
    await ok(kernel, code)
    assert await value(kernel, "1 + 1") == "2"


async def test_async_generators_and_context_managers_work(kernel: Kernel) -> None:
    code = """
import contextlib
@contextlib.asynccontextmanager
async def opened():
    yield 3
async def numbers():
    for n in range(3): yield n
async with opened() as three:
    total = three + sum([n async for n in numbers()])
total
"""
    assert (await ok(kernel, code)).result == "6"


async def test_an_error_in_awaited_code_leaves_the_loop_usable(kernel: Kernel) -> None:
    await run(kernel, "import asyncio\nasync def fail(): raise OSError('x')\nawait fail()")
    assert await value(kernel, "await asyncio.sleep(0, 'fine')") == "'fine'"
