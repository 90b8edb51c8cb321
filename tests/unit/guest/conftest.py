"""A built-in shell for each test, and a process without traces of it afterwards."""

import builtins
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.guest.recording import RecordedShell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedShell]:
    """A shell in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(vars(builtins))
    yield RecordedShell()
    for name in set(vars(builtins)) - before:
        delattr(builtins, name)
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    for name in [name for name in linecache.cache if name.startswith("<cell ")]:
        del linecache.cache[name]
