"""Libraries with threads, processes and event loops of their own after a crash: they work again, or are named."""

from pathlib import Path

import pytest

from pisces.runtime import Runtime
from tests.environments import interpreter_of
from tests.fakes.runtimes import call, details, kernel_of, runtime_on

pytestmark = [pytest.mark.heavy, pytest.mark.processes]

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
HOLDER = "class Holder: pass\nholder = Holder()\n"


@pytest.fixture(scope="session")
def state_python() -> str:
    """An interpreter with the libraries whose state is tried."""
    return interpreter_of("state")


async def works(runtime: Runtime, code: str) -> str:
    """What code that must not fail prints."""
    result = await call(runtime, code, timeout=60)
    assert details(result).outcome == "ok", result.text
    return result.text.strip()


async def missing_after_a_crash(runtime: Runtime) -> tuple[str, ...]:
    """What the restore names as not back."""
    restore = kernel_of(await call(runtime, CRASH)).restore
    assert restore is not None
    assert restore.how == "exact"
    return tuple(restore.missing)


@pytest.mark.parametrize(
    ("make", "use"),
    [
        ("import dask", "dask.delayed(abs)(-3).compute()"),
        ("from joblib import Parallel, delayed", "Parallel(2)(delayed(abs)(-number) for number in (3, 4))"),
        (
            "from joblib import Parallel, delayed\nparallel = Parallel(2, prefer='threads').__enter__()",
            "parallel(delayed(abs)(-number) for number in (3, 4))",
        ),
    ],
    ids=["dask", "joblib's processes", "joblib's threads"],
)
async def test_a_pool_of_a_library_works_again(state_python: str, tmp_path: Path, make: str, use: str) -> None:
    async with runtime_on(state_python, tmp_path, checkpoint="always") as runtime:
        before = await works(runtime, f"{make}\nprint({use})")
        await missing_after_a_crash(runtime)
        assert await works(runtime, f"print({use})") == before


async def test_a_loader_of_torch_makes_other_workers_in_place_of_those_that_are_lost(
    heavy_python: str, tmp_path: Path
) -> None:
    async with runtime_on(heavy_python, tmp_path, checkpoint="always") as runtime:
        made = await call(runtime, "from torch.utils.data import DataLoader")
        if "ModuleNotFoundError" in made.text:
            pytest.skip("torch is not in this environment: torch without CUDA is not offered everywhere")
        await works(runtime, "loader = DataLoader(range(8), num_workers=2, persistent_workers=True)\nlen(list(loader))")
        missing = await missing_after_a_crash(runtime)
        assert not [text for text in missing if text.startswith("loader")]
        assert await works(runtime, "print(sum(map(int, loader)))") == "28"


@pytest.mark.parametrize(
    ("make", "name", "what"),
    [
        ("import aiosqlite\nholder.db = await aiosqlite.connect(':memory:')", "holder", "a thread: holder.db._thread"),
        (
            "from tensorboardX import SummaryWriter\nwriter = SummaryWriter('runs')\nwriter.add_scalar('loss', 1, 1)",
            "writer",
            "a thread: writer.file_writer.event_writer._worker",
        ),
        ("from loguru import logger\n_ = logger.add('lines.log', enqueue=True)", "logger", "a thread: logger._core"),
        (
            "from apscheduler.schedulers import background as b\nscheduler=b.BackgroundScheduler()\nscheduler.start()",
            "scheduler",
            "a thread: scheduler._thread",
        ),
        ("import aiohttp\nholder.session = aiohttp.ClientSession()", "holder", "an event loop: holder.session._loop"),
    ],
    ids=["aiosqlite", "tensorboardX", "loguru", "apscheduler", "aiohttp"],
)
async def test_a_library_whose_thread_or_loop_is_lost_is_named_with_its_variable(
    state_python: str, tmp_path: Path, make: str, name: str, what: str
) -> None:
    async with runtime_on(state_python, tmp_path, checkpoint="always") as runtime:
        await works(runtime, f"{HOLDER}{make}")
        named = [text for text in await missing_after_a_crash(runtime) if text.startswith(f"{name} (")]
        assert len(named) == 1
        assert what in named[0]
