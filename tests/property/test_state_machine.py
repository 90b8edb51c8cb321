"""Run, crash, undo, branch, restore, reset, close, in any order: sessions know what a plain dict would know."""

from pathlib import Path

import hypothesis
import pytest

from tests.property.session_machine import run_machine, world_on

pytestmark = pytest.mark.processes

STEPS = 500
"""For each shell."""


@pytest.mark.usefixtures("no_descriptor_is_left")
@pytest.mark.parametrize("shell", ["plain_python", "ipython_python"])
def test_sessions_agree_with_a_plain_dict_whatever_is_done_to_them(
    shell: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with world_on(str(request.getfixturevalue(shell)), tmp_path) as world:
        run_machine(world, hypothesis.settings(max_examples=11, stateful_step_count=50))
    assert world.steps >= STEPS
