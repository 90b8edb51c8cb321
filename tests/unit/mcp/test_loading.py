"""Garbage is looked for again once the SDK is there, or is not to be had."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from pisces.mcp.loading import load

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """What was frozen here is collected again in the tests that follow."""
    yield
    gc.unfreeze()


async def test_nothing_is_collected_while_a_module_loads_and_then_it_is_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looks_at_gc.py").write_text("import gc\ncollecting = gc.isenabled()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = await load("looks_at_gc")
    assert not module.collecting
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


async def test_garbage_is_collected_again_when_there_is_no_such_module() -> None:
    with pytest.raises(ModuleNotFoundError):
        await load("no_such_module_anywhere")
    assert gc.isenabled()


async def test_whoever_does_not_collect_still_does_not() -> None:
    gc.disable()
    try:
        await load("pisces.mcp.loading")
        assert not gc.isenabled()
    finally:
        gc.enable()
