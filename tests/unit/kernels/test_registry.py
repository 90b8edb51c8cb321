"""Backends are chosen by name."""

import pytest

from pisces.errors import KernelError
from pisces.kernels.registry import make_backend


@pytest.mark.parametrize("name", ["auto", "native"])
def test_the_native_backend_is_the_usual_one(name: str) -> None:
    assert make_backend(name, idle=60).name == "native"


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(KernelError, match="'telepathy'") as caught:
        make_backend("telepathy", idle=60)
    assert "native" in caught.value.hint
