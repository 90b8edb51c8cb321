"""Every class of the catalogue comes through a crash as the table of docs/state.md says, in real sessions."""

from pathlib import Path

import pytest

from tests.state.catalogue import LIBRARIES, Library
from tests.state.environment_of import interpreter_for, missing_modules
from tests.state.survival import outcome_for

pytestmark = pytest.mark.processes

SLOW = frozenset({"scikit-learn"})
"""Those whose import alone takes seconds."""


def _case(library: Library) -> object:
    marks = [pytest.mark.heavy] if library.environment == "heavy" or library.name in SLOW else []
    return pytest.param(library, id=library.name.replace(" ", "-"), marks=marks)


HERE = [library for library in LIBRARIES if library.environment in {"plain", "data", "heavy"}]
"""Those of the environment `state` are in tests/heavy; those of `catalogue` are tried by `make state-table` alone."""


@pytest.mark.parametrize("library", [_case(library) for library in HERE])
async def test_objects_come_back_after_a_crash_as_the_table_says(library: Library, tmp_path: Path) -> None:
    interpreter = interpreter_for(library)
    missing = missing_modules(library.modules, interpreter)
    if missing:
        pytest.skip(f"not in this environment: {missing}")
    assert (await outcome_for(library, interpreter, tmp_path)).problems == []
