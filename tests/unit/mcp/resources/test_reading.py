"""Reading what a session has, on a scripted kernel."""

from pathlib import Path

import pytest

from pisces.kernels.base import Revival
from pisces.kernels.memory import MemoryBackend
from pisces.mcp.resources.reading import Resources
from tests.fakes.runtimes import call, pool_of, scripted_runtime


@pytest.mark.parametrize("part", ["variables", "notebook.ipynb"])
async def test_a_session_that_is_read_is_as_idle_as_before(part: str, tmp_path: Path) -> None:
    async with scripted_runtime(MemoryBackend({}, revival=Revival("exact")), tmp_path) as runtime:
        await call(runtime, "x = 1")
        (session,) = pool_of(runtime).sessions
        session.last_used -= 3600
        used = session.last_used
        await Resources(runtime).read(f"session://default/{part}", "somebody else")
        assert session.last_used == used
        assert pool_of(runtime).sessions == [session]
