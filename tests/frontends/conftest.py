"""The real command, in a process of its own, with a home of its own and a small interpreter for its kernels."""

from pathlib import Path

import pytest

from tests.frontends.command import Command


@pytest.fixture
def pisces(plain_python: str) -> Command:
    """`pisces`, whose kernels have the built-in shell."""
    return Command(plain_python)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands run in a folder that brings no Python along: that of the tests may have all environments in it."""
    monkeypatch.chdir(tmp_path)
