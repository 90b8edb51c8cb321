"""A completion looks for modules and imports none: one that is cut off in the middle of it would be broken for good."""

from pathlib import Path

import pytest

from pisces.kernels.deadline import Deadline
from tests.fakes.drive import PATIENCE, ok, value
from tests.integration.native.conftest import StartKernel


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import zebra_mod", {"zebra_module"}),
        ("import zebra_pack.in", {"inside"}),
        ("from zebra_module import ", set()),
        ("from zebra_pack import ", {"inside"}),
        ("from zebra_pack import inside; zebra_cou", {"zebra_count"}),
    ],
)
async def test_no_module_is_imported_to_be_completed(
    start: StartKernel, either_python: str, tmp_path: Path, code: str, expected: set[str]
) -> None:
    (tmp_path / "zebra_pack").mkdir()
    for name in ("zebra_module", "zebra_pack/__init__", "zebra_pack/inside"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close()\n", encoding="utf-8")
    kernel = await start(either_python)
    await ok(kernel, "import sys; sys.path.insert(0, ''); zebra_count = 5")
    found = await kernel.complete(code, len(code), Deadline.after(PATIENCE))
    assert set(found.matches) == expected
    assert not (tmp_path / "imported").exists()
    assert await value(kernel, "zebra_count") == "5"
