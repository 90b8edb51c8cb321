"""What helpers tell, kept for the test that calls them."""

from collections.abc import Iterator
from typing import Any

import pytest

from pisces.guest.prelude import status


@pytest.fixture
def events() -> Iterator[list[dict[str, Any]]]:
    """The status events of this test, in order."""
    told: list[dict[str, Any]] = []
    before = list(status._publishers)
    status.publish_with(lambda bundle: told.append(bundle[status.MIME]))
    yield told
    status._publishers[:] = before
