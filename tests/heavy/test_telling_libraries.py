"""Libraries that a copy of a process used to hang in come back, or are named, also when a thread works meanwhile."""

from pathlib import Path

import pytest

from tests.state.catalogue import LIBRARIES, Library
from tests.state.environment_of import interpreter_for, missing_modules
from tests.state.survival import outcome_for
from tests.state.working_threads import WORKS, Work

pytestmark = [pytest.mark.heavy, pytest.mark.processes]

TELLING = [library for library in LIBRARIES if library.environment == "state"]


@pytest.mark.parametrize(
    ("library", "work"),
    [
        pytest.param(library, WORKS[number % len(WORKS)], id=f"{library.name}-{WORKS[number % len(WORKS)].name}")
        for number, library in enumerate(TELLING)
    ],
)
async def test_a_telling_library_comes_back_as_the_table_says(library: Library, work: Work, tmp_path: Path) -> None:
    interpreter = interpreter_for(library)
    assert missing_modules((*library.modules, *work.modules), interpreter) == ""
    assert (await outcome_for(library, interpreter, tmp_path, [work])).problems == []
