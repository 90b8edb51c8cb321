"""Libraries that compute in threads of their own go on computing in threads after a crash, and do not hang."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from pisces.runtime import Runtime
from tests.fakes.runtimes import call, details, kernel_of, runtime_on

pytestmark = [pytest.mark.heavy, pytest.mark.processes]

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
NATIVE_THREADS = "len(os.listdir('/proc/self/task')) - threading.active_count()"
"""How many threads there are that Python knows nothing of; asked in the cell that computed, before any checkpoint."""
MOST_SECONDS = 20.0


@dataclass(frozen=True)
class Case:
    """A library, what it computes in parallel, and how its state comes back."""

    name: str
    setup: str
    compute: str
    how: Literal["exact", "by_value"] = "exact"
    again: str = "pass"
    """What has to be run for the threads to come back; without it the library goes on in one."""


TORCH = Case(
    "torch",
    "import torch\nweights = torch.full((1200, 1200), 0.5)",
    "round((weights @ weights).sum().item())",
)
SKLEARN = Case(
    "scikit-learn",
    "import numpy as np\nfrom sklearn.cluster import KMeans\n"
    "from sklearn.ensemble import HistGradientBoostingRegressor\nrows = np.random.default_rng(0).random((4000, 12))",
    "(round(KMeans(8, n_init=1, random_state=0).fit(rows).inertia_, 6),"
    " round(HistGradientBoostingRegressor(max_iter=5).fit(rows, rows[:, 0]).score(rows, rows[:, 0]), 6))",
)
CASES = (
    Case("numpy", "import numpy as np\nsquare = np.full((1500, 1500), 0.5)", "round(float((square @ square).sum()))"),
    SKLEARN,
    TORCH,
    Case("torch and scikit-learn", f"{TORCH.setup}\n{SKLEARN.setup}", f"({TORCH.compute}, {SKLEARN.compute})"),
    Case(
        "pyarrow",
        "import pyarrow as pa\ntable = pa.table({'key': [n % 9 for n in range(200_000)], 'value': range(200_000)})",
        "table.group_by('key').aggregate([('value', 'sum')]).sort_by('key').column('value_sum').to_pylist()",
    ),
    Case(
        "duckdb",
        "import duckdb\nbase = duckdb.connect()\n"
        "_ = base.execute('create table t as select range as n from range(2_000_000)')",
        "base.sql('select n % 5, sum(n) from t group by 1 order by 1').fetchall()",
        again="_ = base.execute('set threads = 1'), base.execute('set threads = 2')",
    ),
    Case(
        "polars",
        "import polars as pl\nframe = pl.DataFrame({'key': [n % 9 for n in range(200_000)], 'value': range(200_000)})",
        "frame.group_by('key').agg(pl.col('value').sum()).sort('key').rows()",
        "by_value",
    ),
    Case(
        "numba",
        "import numba, numpy as np\nnumbers = np.arange(1_000_000.0)\n"
        "@numba.njit(parallel=True)\ndef total(values):\n    result = 0.0\n"
        "    for index in numba.prange(values.size):\n        result += values[index]\n    return result",
        "round(total(numbers))",
        "by_value",
    ),
)


async def computed(runtime: Runtime, case: Case) -> str:
    """What the library computes, with threads of its own."""
    result = await call(runtime, f"import os, threading\nprint({case.compute})\nprint({NATIVE_THREADS})")
    assert details(result).outcome == "ok", result.text
    value, threads = result.text.splitlines()
    assert int(threads) > 0
    return value


async def prepare(runtime: Runtime, case: Case) -> None:
    """Import the library and make its data."""
    ready = await call(runtime, case.setup)
    if "ModuleNotFoundError" in ready.text:
        pytest.skip(f"{case.name} is not in this environment: torch without CUDA is not offered everywhere")
    assert details(ready).outcome == "ok", ready.text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
async def test_a_library_computes_in_threads_again_after_a_crash(case: Case, heavy_python: str, tmp_path: Path) -> None:
    async with runtime_on(heavy_python, tmp_path, checkpoint="always") as runtime:
        await prepare(runtime, case)
        before = await computed(runtime, case)
        started = time.monotonic()
        restore = kernel_of(await call(runtime, CRASH)).restore
        assert details(await call(runtime, case.again)).outcome == "ok"
        after = await computed(runtime, case)
        assert time.monotonic() - started < MOST_SECONDS
        assert after == before
        assert restore is not None
        assert (restore.how, restore.cells_lost, restore.missing) == (case.how, 0, ())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
async def test_the_live_kernel_computes_in_threads_beside_its_checkpoints(
    case: Case, heavy_python: str, tmp_path: Path
) -> None:
    async with runtime_on(heavy_python, tmp_path, checkpoint="always") as runtime:
        await prepare(runtime, case)
        assert len({await computed(runtime, case) for _ in range(4)}) == 1


async def test_a_library_can_join_many_threads_that_were_lost(heavy_python: str, tmp_path: Path) -> None:
    async with runtime_on(heavy_python, tmp_path, checkpoint="always") as runtime:
        setup = "import duckdb\nbase = duckdb.connect()\n_ = base.execute('set threads = 16')\n"
        await call(runtime, setup + "total = base.sql('select sum(range) from range(3000000)').fetchall()")
        restore = kernel_of(await call(runtime, CRASH)).restore
        assert restore is not None
        assert restore.how == "exact"
        closed = await call(runtime, "base.close()")
        assert (details(closed).outcome, kernel_of(closed).state) == ("ok", "kept"), closed.text
