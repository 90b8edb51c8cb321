"""Beginning ahead what the first call would have to wait for."""

import os
from pathlib import Path

import psutil

from tests.fakes.runtimes import call, pool_of, runtime_on


async def test_what_kernels_share_is_started_before_the_first_call(plain_python: str, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await runtime.warm_up()
        ahead = set(psutil.Process().children(recursive=True)) - before
        assert ahead
        assert pool_of(runtime).sessions == []
        assert (await call(runtime, "1 + 1")).text == "2"
        assert any(process.is_running() for process in ahead)


async def test_what_cannot_be_started_is_told_by_the_call_and_works_once_it_is_there(
    plain_python: str, tmp_path: Path
) -> None:
    missing = tmp_path / "python"
    async with runtime_on(str(missing), tmp_path) as runtime:
        await runtime.warm_up()
        assert (await runtime.tool("python", {"code": "1 + 1"})).text.startswith("Error: The interpreter of ")
        os.symlink(plain_python, missing)
        assert (await runtime.tool("python", {"code": "1 + 1"})).text == "2"
