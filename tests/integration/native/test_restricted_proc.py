"""Where /proc is not to be had, cells run all the same; checkpoints are off, and the result says why."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.drive import plain_environment
from tests.source_tree import ROOT

HIDDEN = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


@pytest.fixture(scope="module")
def hide_proc() -> list[str]:
    """What to put in front of a command, so that it finds an empty /proc."""
    if (
        shutil.which("unshare") is None
        or subprocess.run([*HIDDEN, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("hiding /proc takes the right to make a mount namespace")
    return HIDDEN


def test_cells_run_and_the_reason_is_given(hide_proc: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*hide_proc, sys.executable, "-m", "pisces", "run", "-c", "x = 1", "-c", "x + 1"],
        cwd=tmp_path,
        env=plain_environment(HOME=str(tmp_path), PYTHONPATH=str(ROOT / "src")),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.stdout.startswith("2\n"), done.stderr
    reason = "No checkpoint was made after this cell (/proc/self/fd cannot be read on this system)"
    assert reason in done.stdout + done.stderr
