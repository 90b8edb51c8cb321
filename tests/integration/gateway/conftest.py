"""A home with local gateways, which end with the test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.local_gateways import LocalGateways, local_gateways


@pytest.fixture
async def gateways(jupyter_python: str, own_home: Path, no_process_is_left: None) -> AsyncIterator[LocalGateways]:
    """Kernels of the interpreter that has Jupyter, on gateways of this test's own."""
    async with local_gateways(jupyter_python) as found:
        yield found
