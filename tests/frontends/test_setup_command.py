"""`pisces setup python`: an environment of its own for those who have none."""

import signal
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE, Command


@pytest.mark.heavy
def test_the_environment_is_made_and_used(pisces: Command, own_home: Path, tmp_path: Path) -> None:
    done = pisces("setup", "python", "--packages", "")
    python = own_home / ".pisces" / "python-env" / "bin" / "python"
    assert (done.stdout, done.returncode) == (f"{python}\n", 0), done.stderr
    assert "Making a virtual environment" in done.stderr
    code, variables = "import sys; print(sys.prefix)", {"PI_SET__python__interpreter": ""}
    ran = pisces("run", "-c", code, variables=variables, cwd=tmp_path)  # A folder without an environment of its own.
    assert ran.stdout == f"{python.parents[1]}\n"


def test_a_base_that_does_not_work_is_told(pisces: Command) -> None:
    done = pisces("setup", "python", "--python", "/no/such/python")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "/no/such/python cannot be started" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_it_and_what_is_half_made_is_not_used(pisces: Command, own_home: Path, tmp_path: Path) -> None:
    base = tmp_path / "slow-python"
    base.write_text("#!/bin/sh\necho begun\nexec sleep 600\n", encoding="utf-8")
    base.chmod(0o755)
    process = pisces.start("setup", "python", "--python", str(base))
    assert process.stderr is not None
    while b"begun" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Stopped." in errors
    assert (own_home / ".pisces" / "python-env.unfinished").exists()
