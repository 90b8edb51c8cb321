"""A pid is not a process: only with the time of its start it is one."""

import os
import signal
import subprocess
import sys

import pytest

from pisces.settings.recorded_process import RecordedProcess, process_start


@pytest.fixture
def sleeper() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


def test_a_process_is_known_by_its_pid_and_its_start() -> None:
    ours = RecordedProcess.of(os.getpid())
    assert ours.is_running
    assert not RecordedProcess(ours.pid, ours.start_time + 1).is_running
    assert not RecordedProcess(ours.pid, 0).is_running


@pytest.mark.processes
def test_a_signal_reaches_the_process_that_was_meant(sleeper: "subprocess.Popen[bytes]") -> None:
    with sleeper:
        assert RecordedProcess.of(sleeper.pid).send(signal.SIGTERM)
        assert sleeper.wait(30) == -signal.SIGTERM


@pytest.mark.processes
def test_a_signal_does_not_reach_another_process_with_the_same_pid(sleeper: "subprocess.Popen[bytes]") -> None:
    with sleeper:
        assert not RecordedProcess(sleeper.pid, process_start(sleeper.pid) + 1).send(signal.SIGKILL)
        sleeper.communicate(b"\n", timeout=30)
    assert sleeper.returncode == 0


@pytest.mark.processes
def test_nothing_is_sent_to_a_process_that_has_ended(sleeper: "subprocess.Popen[bytes]") -> None:
    with sleeper:
        ended = RecordedProcess.of(sleeper.pid)
        sleeper.communicate(b"\n", timeout=30)
    assert not ended.is_running
    assert not ended.send(signal.SIGKILL)


@pytest.mark.processes
def test_a_process_that_has_ended_is_gone_before_it_is_reaped(sleeper: "subprocess.Popen[bytes]") -> None:
    with sleeper:
        before = RecordedProcess.of(sleeper.pid)
        sleeper.kill()
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
        assert not before.is_running
