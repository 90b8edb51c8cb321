"""Finding processes: what `/proc` says of one at its worst moments."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from pisces.guest import processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")

AGAIN_AND_AGAIN = """#!/bin/sh
test "$1" = 0 || exec "$0" $(($1 - 1))
echo end
"""
TIMES = 500


def test_a_process_that_becomes_another_program_is_not_overlooked(tmp_path: Path) -> None:
    script = tmp_path / "again"
    script.write_text(AGAIN_AND_AGAIN, encoding="ascii")
    script.chmod(0o700)
    env = {"PI_MARK": "1", "PATH": os.environ["PATH"]}
    with subprocess.Popen([script, str(TIMES)], env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        looks = 0
        while b"PI_MARK=1" in processes.environment(process.pid):
            looks += 1
        has_come_to_its_end, _, _ = select.select([process.stdout], [], [], 0)
    assert has_come_to_its_end, f"overlooked after {looks} looks"
    assert looks > TIMES / 10


def test_a_process_that_has_ended_or_never_was_has_no_environment() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert processes.environment(process.pid) == [b""]
    assert processes.environment(process.pid) == [b""]
