"""The user's event loop: any cell can put tasks on it, they go on between cells, and other loops run beside it."""

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
    assert await value(kernel, f"{code}; asyncio.get_event_loop() is asyncio.get_running_loop()") == "True"
    assert await value(kernel, "await asyncio.sleep(0, 'again')") == "'again'"


async def test_a_cell_that_does_not_await_can_create_tasks(kernel: Kernel) -> None:
    code = """
import asyncio
async def double(n): return await asyncio.sleep(0, 2 * n)
created = asyncio.create_task(double(1))
ensured = asyncio.ensure_future(double(2))
gathered = asyncio.gather(double(3), double(4))
assert created in asyncio.all_tasks()
assert asyncio.get_running_loop() is asyncio.get_event_loop() is created.get_loop()
asyncio.current_task() is created
"""
    assert (await ok(kernel, code)).result == "False"
    assert await value(kernel, "await created, await ensured, await gathered") == "(2, 4, [6, 8])"


@pytest.mark.parametrize("first", ["pass", "await asyncio.sleep(0)"])
@pytest.mark.parametrize(
    "run_it",
    [
        "return asyncio.run(main())",
        "with asyncio.Runner() as runner: return runner.run(main())",
        "with contextlib.closing(asyncio.new_event_loop()) as loop: return loop.run_until_complete(main())",
    ],
)
async def test_any_cell_can_run_a_loop_of_its_own(kernel: Kernel, first: str, run_it: str) -> None:
    code = f"""
import asyncio, contextlib
{first}
async def main(): return asyncio.get_running_loop() is not around and await asyncio.sleep(0, 'ran')
def nested():
    {run_it}
around = asyncio.get_running_loop()
nested(), asyncio.get_running_loop() is around
"""
    assert (await ok(kernel, code)).result == "('ran', True)"


@pytest.mark.needs_idle_loop
async def test_a_cell_can_run_the_loop_that_it_finds(kernel: Kernel) -> None:
    code = "import asyncio\nasync def main(): return await asyncio.sleep(0, 'ran')\n"
    for loop in ("asyncio.get_event_loop()", "asyncio.get_running_loop()"):
        assert await value(kernel, f"{code}{loop}.run_until_complete(main())") == "'ran'"


@pytest.mark.needs_idle_loop
async def test_a_library_that_refuses_to_run_beside_a_loop_runs(kernel: Kernel) -> None:
    library = """
import asyncio
def current_async_library():
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
"""
    code = f"""
import types
library = types.ModuleType("anyio._core._eventloop")
exec({library!r}, vars(library))
library.current_async_library()
"""
    assert (await ok(kernel, code)).result is None


@pytest.mark.needs_idle_loop
@pytest.mark.parametrize("whose", ["asyncio.new_event_loop()", "asyncio.get_running_loop()"])
async def test_a_loop_that_is_left_running_is_in_nobodys_way(fresh: Kernel, whose: str) -> None:
    # As a loop is that was begun in a greenlet and stopped there in the middle: playwright's sync API.
    await ok(fresh, "import asyncio\nbackground = asyncio.create_task(asyncio.sleep(3600))")
    await ok(
        fresh,
        f"import threading\nleft = {whose}\nleft._thread_id = threading.get_ident()\nasyncio._set_running_loop(left)",
    )
    for _ in range(2):
        assert await value(fresh, "await asyncio.sleep(0, asyncio.get_running_loop() is left)") == "False"
        assert await value(fresh, "asyncio.run(asyncio.sleep(0, 'ran')), asyncio._get_running_loop() is left") == (
            "('ran', True)"
        )
    await ok(fresh, "left._thread_id = None")
    assert await value(fresh, "asyncio.get_running_loop() is left") == "False"


@pytest.mark.needs_idle_loop
async def test_a_stop_of_the_loop_that_does_not_run_ends_with_its_cell(kernel: Kernel) -> None:
    await ok(kernel, "import asyncio\nasyncio.get_running_loop().stop()")
    assert await value(kernel, "await asyncio.sleep(0.01, 'awaited')") == "'awaited'"


async def test_a_thread_and_a_forked_process_have_no_loop(kernel: Kernel) -> None:
    code = """
import asyncio, os, threading
def there_is_one():
    try:
        return bool(asyncio.get_running_loop())
    except RuntimeError:
        return False
found = [there_is_one()]
thread = threading.Thread(target=lambda: found.append(there_is_one()))
thread.start()
thread.join()
child = os.fork()
if not child:
    os._exit(there_is_one())
found.append(bool(os.waitpid(child, 0)[1]))
found
"""
    assert (await ok(kernel, code)).result == "[True, False, False]"


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
