"""The real command, in a process of its own, with a home of its own and a small interpreter for its kernels."""

import pytest

from tests.frontends.command import Command


@pytest.fixture
def pisces(plain_python: str) -> Command:
    """`pisces`, whose kernels have the built-in shell."""
    return Command(plain_python)
