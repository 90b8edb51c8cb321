"""What cells are called on a terminal."""

from typing import Any

import pytest

from pisces.cli.cell_names import name_of, names_of
from pisces.cli.cells_to_run import CellsToRun


@pytest.mark.parametrize(
    ("title", "code", "name"),
    [
        ("Load", "x = 1", "Load"),
        ("", "\n\n  x = 1\ny = 2", "x = 1"),
        ("", "", ""),
        ("a\tb\x1b[31mc", "", "a b[31mc"),
        ("right\N{RIGHT-TO-LEFT OVERRIDE}left", "", "rightleft"),
    ],
)
def test_a_name_is_one_line_that_moves_nothing(title: str, code: str, name: str) -> None:
    assert name_of(title, code) == name


def test_a_name_is_not_as_long_as_its_code() -> None:
    assert len(name_of("", "x" * 1_000_000)) == 200


@pytest.mark.parametrize(
    ("params", "sources", "names"),
    [
        ({"cells": [{"code": "a = 1", "title": "One"}, {"code": "b = 2"}]}, (), ("One", "b = 2")),
        ({"command": "make\ntest"}, (), ("make",)),
        ({"action": "run_all"}, (("cell 3", "import os\nos"),), ("cell 3: import os",)),
    ],
    ids=["cells", "command", "notebook"],
)
def test_every_kind_of_call_has_names(
    params: dict[str, Any], sources: tuple[tuple[str, str], ...], names: tuple[str, ...]
) -> None:
    assert names_of(CellsToRun(cwd=None, settings={}, params=params, sources=sources)) == names
