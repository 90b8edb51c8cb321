"""The terminal UI with a background host of the test's own, whose kernels are of the small interpreter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hosts import stop_host


@pytest.fixture
def ui_home(
    monkeypatch: pytest.MonkeyPatch, plain_python: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A folder to work in, on whose name no test waits by mistake. The host that the app starts ends with the test."""
    source = Path(__file__).resolve().parents[3] / "src"
    monkeypatch.setenv("PYTHONPATH", str(source))
    monkeypatch.setenv("PI_SET__python__interpreter", plain_python)
    yield tmp_path_factory.mktemp("place")
    stop_host()
