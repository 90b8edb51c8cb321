"""The checks for what a test leaves behind must find it, or a leak would pass for order."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.leftovers import COOKIE, Leftovers, open_descriptors

ORPHAN = """
import os, signal
if os.fork():
    os._exit(0)
os.setsid()
print(os.getpid(), flush=True)
os.close(1)
signal.pause()
"""


def test_an_orphan_in_a_session_of_its_own_is_found_and_ended() -> None:
    leftovers = Leftovers()
    environment = {**os.environ, COOKIE: leftovers.cookie}
    done = subprocess.run([sys.executable, "-c", ORPHAN], env=environment, stdout=subprocess.PIPE, check=True)
    pid = int(done.stdout)

    found = leftovers.end(grace=0.2)

    assert [line.split()[0] for line in found] == [str(pid)]
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_child_that_still_runs_is_found_and_ended() -> None:
    leftovers = Leftovers()
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])

    found = leftovers.end(grace=0.2)

    assert [line.split()[0] for line in found] == [str(child.pid)]
    assert child.wait(timeout=10) in {0, -signal.SIGKILL}


def test_processes_that_were_there_before_are_left_alone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    try:
        assert Leftovers().end(grace=0.2) == []
        assert child.poll() is None
    finally:
        child.kill()
        child.wait(timeout=10)


@pytest.mark.processes
def test_a_marked_test_hands_its_cookie_to_what_it_starts() -> None:
    seen = subprocess.run(
        [sys.executable, "-c", f"import os; print(len(os.environ[{COOKIE!r}]))"], stdout=subprocess.PIPE, check=True
    )
    assert int(seen.stdout) == 32


def test_an_open_descriptor_is_seen(tmp_path: Path) -> None:
    before = open_descriptors()
    with (tmp_path / "file").open("w", encoding="utf-8") as file:
        assert file.fileno() in open_descriptors().keys() - before.keys()
    assert open_descriptors() == before
