"""Ten thousand steps of the state machine, other ones each time: `make soak` prints the seed that repeats them."""

from pathlib import Path

import hypothesis
import pytest

from tests.property.session_machine import run_machine, world_on

pytestmark = [pytest.mark.soak, pytest.mark.processes]

STEPS = 5_000
"""For each shell."""
STEPS_AT_ONCE = 100


@pytest.mark.timeout(0)
@pytest.mark.usefixtures("no_descriptor_is_left")
@pytest.mark.parametrize("shell", ["plain_python", "ipython_python"])
def test_sessions_agree_with_a_plain_dict_for_thousands_of_steps(
    shell: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    examples = STEPS // STEPS_AT_ONCE + 5
    settings = hypothesis.settings(
        derandomize=False, database=None, max_examples=examples, stateful_step_count=STEPS_AT_ONCE
    )
    with world_on(str(request.getfixturevalue(shell)), tmp_path) as world:
        run_machine(world, settings)
    assert world.steps >= STEPS
