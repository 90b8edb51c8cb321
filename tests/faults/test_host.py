"""What can go wrong between a command and its background host: either of them dies, or talks nonsense."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from tests.fakes.drive import PATIENCE
from tests.fakes.hosts import end_host, files, kill_host, record
from tests.frontends.command import Command

DEAF = """
import os, time
while True:
    try:
        print(os.getpid(), flush=True)
        time.sleep(600)
    except BaseException: pass
"""
WAITS = "x = 1\nimport os\nprint(os.getpid(), flush=True)\nimport time\ntime.sleep(600)"


@pytest.fixture
def pisces(plain_python: str) -> Iterator[Command]:
    command = Command(plain_python)
    yield command
    end_host(command)


@contextmanager
def running(pisces: Command, *options: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A command whose cell runs, and the process of the kernel."""
    process = pisces.start("run", "--session", "s", "--timeout", "300", *options, "-c", WAITS)
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def test_after_the_host_was_killed_the_next_command_says_once_that_the_state_is_lost(pisces: Command) -> None:
    kernel = int(pisces("run", "--session", "s", "-c", "import os; x = 1; os.getpid()").stdout)
    kill_host()
    first = pisces("run", "--session", "s", "-c", "'x' in globals()")
    assert first.stdout == "False\n"
    assert "[State: lost] The background host that kept the session ended without being asked to." in first.stderr
    assert "State:" not in pisces("run", "--session", "s", "-c", "1").stderr
    assert "State:" not in pisces("run", "--session", "other", "-c", "1").stderr
    assert not psutil.pid_exists(kernel)


def test_a_loss_that_nobody_was_there_to_hear_of_is_told_with_the_next_command(
    pisces: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_SET__python__interruptGrace", "0.5")
    monkeypatch.setenv("PI_SET__python__checkpoint", "off")
    pisces("run", "--session", "s", "-c", "x = 1")
    with running(pisces, "-c", DEAF) as (process, kernel):
        process.kill()
        psutil.Process(kernel).wait(PATIENCE)
    later = pisces("run", "--session", "s", "-c", "'x' in globals()")
    assert later.stdout == "False\n"
    assert "[State: lost] The cell did not stop within 0.5 seconds" in later.stderr


def test_a_lost_session_goes_on_with_its_interpreter_and_is_listed_until_then(
    pisces: Command, plain_python: str, ipython_python: str
) -> None:
    which = "import sys; sys.executable"
    before = pisces("run", "--session", "s", "--interpreter", ipython_python, "-c", which).stdout
    pisces("run", "--session", "t", "-c", "1")
    kill_host()
    listed = pisces("session", "list")
    assert listed.returncode == 0
    assert re.findall(
        r"^(\w): lost; the background host .* ended without being asked to; (.*)$", listed.stdout, re.MULTILINE
    ) == [
        ("s", ipython_python),
        ("t", plain_python),
    ]
    assert [lost["id"] for lost in json.loads(pisces("session", "list", "--json").stdout)["details"]["lost"]] == [
        "s",
        "t",
    ]
    assert pisces("session", "close", "t").returncode == 0
    beside = pisces("session", "list").stdout
    assert ("s: lost;" in beside, "t: lost;" in beside) == (True, False)
    after = pisces("run", "--session", "s", "-c", which)
    assert after.stdout == before
    assert "[State: lost] The background host that kept the session ended" in after.stderr
    assert f"The session runs {ipython_python}, as before." in after.stderr
    assert "lost" not in pisces("session", "list").stdout


def test_another_interpreter_for_a_lost_session_is_told(
    pisces: Command, plain_python: str, ipython_python: str
) -> None:
    pisces("run", "--session", "s", "-c", "1")
    kill_host()
    after = pisces("run", "--session", "s", "--interpreter", ipython_python, "-c", "1")
    assert f"The session ran {plain_python}, and now runs {ipython_python}." in after.stderr


def test_the_interpreter_of_a_session_is_known_when_its_host_is_killed_in_its_first_cell(
    pisces: Command, ipython_python: str
) -> None:
    with running(pisces, "--interpreter", ipython_python):
        kill_host()
        assert f"s: lost; the background host that kept the session ended without being asked to; {ipython_python}" in (
            pisces("session", "list").stdout
        )
    assert "as before" in pisces("run", "--session", "s", "-c", "1").stderr


def test_a_loss_is_also_told_by_a_command_that_looks_for_the_session(pisces: Command) -> None:
    pisces("run", "--session", "s", "-c", "x = 1")
    kill_host()
    pisces("run", "--session", "other", "-c", "1")
    done = pisces("session", "variables", "s")
    assert done.returncode == 1
    assert "ended without being asked to" in done.stderr
    assert "[State: lost]" in pisces("run", "--session", "s", "-c", "1").stderr
    assert "[State: lost]" not in pisces("run", "--session", "s", "-c", "1").stderr


def test_a_command_whose_host_is_killed_says_that_it_does_not_know(pisces: Command) -> None:
    with running(pisces) as (process, _):
        kill_host()
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"[State: unknown] The background host ended while the call was under way." in errors
    assert b"Traceback" not in errors
    assert "[State: lost]" in pisces("run", "--session", "s", "-c", "1").stderr


def test_a_branch_that_takes_the_name_of_a_lost_session_has_lost_nothing(pisces: Command) -> None:
    pisces("run", "--session", "t", "-c", "1")
    kill_host()
    pisces("run", "--session", "s", "-c", "x = 41")
    assert pisces("session", "branch", "s", "t").returncode == 0
    done = pisces("run", "--session", "t", "-c", "x + 1")
    assert done.stdout == "42\n"
    assert "State:" not in done.stderr


def test_as_json_a_lost_host_is_the_outcome_disconnected(pisces: Command) -> None:
    pisces("run", "--session", "s", "-c", "1")
    gate = files().agent / "begun"
    code = f"open({str(gate)!r}, 'w').close()\nimport time\ntime.sleep(600)"
    process = pisces.start("run", "--session", "s", "--json", "--timeout", "300", "-c", code)
    try:
        wait_for_file(gate, process)
        kill_host()
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert json.loads(output)["details"]["outcome"] == "disconnected"


def test_a_command_that_is_killed_interrupts_its_cell_and_leaves_the_session(pisces: Command) -> None:
    with running(pisces) as (process, kernel):
        process.kill()
        process.wait(PATIENCE)
        done = pisces("run", "--session", "s", "-c", "x, os.getpid()")
    assert done.stdout == f"(1, {kernel})\n"


def test_nonsense_from_one_client_does_not_touch_the_others(pisces: Command) -> None:
    pisces("run", "--session", "s", "-c", "x = 41")
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(str(files().socket))
        client.sendall(b'{"type": "call", "tool": "\xff"}\n' * 3)
        said = client.makefile("rb").read().splitlines()
    assert json.loads(said[0])["type"] == "hello"
    assert b"cannot be understood" in said[1]
    assert pisces("run", "--session", "s", "-c", "x + 1").stdout == "42\n"


@pytest.mark.heavy
def test_a_host_that_does_not_answer_is_told_and_can_be_killed(pisces: Command) -> None:
    pisces("run", "--session", "s", "-c", "1")
    host = psutil.Process(record().pid)
    host.suspend()
    done = pisces("host", "stop", "--force")
    assert done.returncode == 0
    assert "was killed" in done.stderr
    host.wait(PATIENCE)


def test_a_home_that_cannot_be_written_to_is_told(pisces: Command, plain_python: str) -> None:
    done = pisces("run", "--session", "s", "-c", "1", variables={"PISCES_HOME": "/proc/pisces"})
    assert done.returncode == 1
    assert "The background host cannot be started" in done.stderr
    assert "PISCES_HOME" in done.stderr


def wait_for_file(path: os.PathLike[str], process: "subprocess.Popen[bytes]") -> None:
    """Wait until the cell has made the file."""
    while not os.path.exists(path):
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail("the command ended before its cell began")
