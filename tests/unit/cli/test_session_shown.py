"""The list of sessions at a terminal: what each does, and what a person needs to go on with it."""

import pytest

from pisces.cli.session_shown import _session
from pisces.model.kernel_info import Phase
from pisces.model.sessions import SessionInfo


@pytest.mark.parametrize(
    ("busy", "phase", "jobs", "state"),
    [
        (False, "ready", (), "idle for 2.0 s"),
        (True, "executing", ("job-1", "job-2"), "busy for 2.0 s, job-1, job-2"),
        (False, "shutdown", (), "no kernel for 2.0 s"),
    ],
)
def test_a_session_says_whether_it_has_a_kernel_and_which_jobs_can_be_waited_for(
    busy: bool, phase: Phase, jobs: tuple[str, ...], state: str
) -> None:
    info = SessionInfo(
        id="s",
        interpreter="python",
        folder="/",
        phase=phase,
        busy=busy,
        idle_seconds=2,
        generation=1,
        cells=3,
        jobs=jobs,
    )
    assert _session(info)[:2] == ("s", state)
