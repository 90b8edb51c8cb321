"""The supervisors of a runtime: shared by those who want the same, and nothing is kept of those that never came up."""

import os
from pathlib import Path

import anyio
import pytest

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.native.zygotes import ZygotePool
from tests.fakes.drive import plain_environment
from tests.integration.native.keeping import soon
from tests.leftovers import COOKIE


def spec(interpreter: str, **env: str) -> LaunchSpec:
    return LaunchSpec(interpreter, "/", plain_environment(**{COOKIE: os.environ[COOKIE], **env}))


async def test_two_who_want_the_same_at_once_get_one_supervisor(plain_python: str) -> None:
    pool = ZygotePool(idle=60)
    found: set[int] = set()

    async def want() -> None:
        found.add((await pool.get(spec(plain_python), soon())).pid)

    try:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(want)
    finally:
        await pool.aclose()
    assert len(found) == 1
    assert not pool._starting


async def test_a_pool_remembers_nothing_of_starts_that_failed_or_were_given_up(tmp_path: Path) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    silent.chmod(0o755)
    pool = ZygotePool(idle=60)
    for number in range(20):
        with pytest.raises(KernelStartError):
            await pool.get(spec("/no/such/python", NUMBER=str(number)), soon())
    with pytest.raises(DeadlineExceeded):
        await pool.get(spec(str(silent)), Deadline.after(0.1))
    with anyio.move_on_after(0.1):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(pool.get, spec(str(silent)), soon())
    assert not pool._starting
