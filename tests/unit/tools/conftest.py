"""What the tests of tools share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pisces.runtime import Runtime
from tests.fakes.runtimes import scripted_runtime


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    """Nothing is run here, so there is no kernel."""
    async with scripted_runtime({}, tmp_path) as made:
        yield made
