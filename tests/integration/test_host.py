"""The background host as a process: when it starts, where it listens, whom it serves, and when it ends."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.fakes.drive import PATIENCE
from tests.fakes.hosts import (
    OTHER_VERSION,
    end_host,
    files,
    gone,
    host_of_another_version,
    of_another_version,
    record,
    starts,
)
from tests.frontends.command import Command


@pytest.fixture
def pisces(plain_python: str) -> Iterator[Command]:
    command = Command(plain_python)
    yield command
    end_host(command)


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_first_commands_that_come_at_once_start_one_host(pisces: Command) -> None:
    commands = [pisces.start("run", "--session", f"s{n}", "-c", f"{n}") for n in range(4)]
    said = [command.communicate(timeout=PATIENCE) for command in commands]
    assert [output for output, _ in said] == [b"0\n", b"1\n", b"2\n", b"3\n"]
    assert starts() == 1


def test_it_belongs_to_its_user_and_to_no_terminal(pisces: Command) -> None:
    pisces("run", "--session", "s", "-c", "1")
    assert permissions(files().socket) == 0o600
    assert permissions(files().agent) == 0o700
    assert permissions(files().log) == 0o600
    host = psutil.Process(record().pid)
    assert host.terminal() is None
    assert os.getsid(host.pid) not in (os.getsid(0), host.pid)
    assert record().is_running


def test_it_ends_when_it_has_had_no_session_for_the_idle_time(pisces: Command) -> None:
    quick = {"PI_SET__python__idleTimeout": "0.2"}
    pisces("run", "--session", "s", "-c", "1", variables=quick)
    host = record().pid
    assert psutil.pid_exists(host)
    pisces("session", "close", "s")
    gone(host)
    assert not files().socket.exists()


def test_a_session_that_was_idle_for_too_long_is_ended_and_that_is_told(pisces: Command) -> None:
    quick = {"PI_SET__python__idleTimeout": "0.2", "PI_SET__python__namedIdleTimeout": "1"}
    pisces("run", "--session", "s", "-c", "x = 1", variables=quick)
    gone(record().pid)
    done = pisces("run", "--session", "s", "-c", "'x' in globals()")
    assert done.stdout == "False\n"
    assert "[State: lost] The session had been idle for too long" in done.stderr


def test_the_socket_of_a_dead_host_is_replaced(pisces: Command) -> None:
    files().agent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(files().socket))
    assert pisces("session", "list").returncode == 0
    assert pisces("run", "--session", "s", "-c", "1").stdout == "1\n"


def test_a_home_whose_path_is_too_long_for_a_socket_works_as_any_other(
    pisces: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path.joinpath(*["a-rather-long-name"] * 6)
    monkeypatch.setenv("PISCES_HOME", str(home))
    pisces("run", "--session", "s", "-c", "x = 41")
    assert len(str(home / "agent" / "host.sock")) > 107
    assert permissions(files().socket.parent) == 0o700
    elsewhere = pisces("run", "--session", "s", "-c", "x + 1", variables={"TMPDIR": str(tmp_path)})
    assert elsewhere.stdout == "42\n"
    assert starts() == 1
    end_host(pisces)
    files().socket.parent.rmdir()


def test_wrong_settings_of_the_user_are_told_by_the_command_that_starts_it(pisces: Command, own_home: Path) -> None:
    agent = own_home / ".pisces" / "agent"
    agent.mkdir(parents=True)
    agent.joinpath("settings.toml").write_text("[python]\nidleTimeout = 'long'\n", encoding="utf-8")
    done = pisces("run", "--session", "s", "-c", "1")
    assert done.returncode == 2
    assert "idleTimeout" in done.stderr


def test_an_idle_host_of_another_version_is_replaced_without_a_word(pisces: Command, plain_python: str) -> None:
    with host_of_another_version(plain_python) as old:
        done = pisces("run", "--session", "s", "-c", "6 * 7")
        assert done.stdout == "42\n"
        assert old.wait(PATIENCE) == 0
        assert record().version != OTHER_VERSION


def test_a_host_of_another_version_with_sessions_is_left_alone_and_the_way_out_is_named(
    pisces: Command, plain_python: str
) -> None:
    with host_of_another_version(plain_python) as old:
        of_another_version("run", "--session", "kept", "-c", "x = 41", interpreter=plain_python)
        for command in (["run", "--session", "s", "-c", "1"], ["session", "list"]):
            done = pisces(*command)
            assert done.returncode == 1
            assert f"of version {OTHER_VERSION}" in done.stderr
            assert "pisces host stop" in done.stderr
            assert "kept" in done.stderr
        still = of_another_version("run", "--session", "kept", "-c", "x + 1", interpreter=plain_python)
        assert still.stdout == "42\n"
        assert "Sessions that ended with it: kept." in pisces("host", "stop").stderr
        assert old.wait(PATIENCE) == 0
        assert pisces("run", "--session", "s", "-c", "1").stdout == "1\n"


def test_sigterm_ends_it_in_good_order(pisces: Command) -> None:
    pisces("run", "--session", "s", "-c", "1")
    psutil.Process(record().pid).terminate()
    gone(record().pid)
    assert not files().socket.exists()
    assert "was stopped" in pisces("run", "--session", "s", "-c", "1").stderr


def test_a_command_loads_nothing_that_only_the_host_needs(pisces: Command, plain_python: str) -> None:
    pisces("run", "--session", "s", "-c", "x = 41")
    source = Path(__file__).resolve().parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pisces", "run", "--session", "s", "-c", "x + 1"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(source)},
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == "42\n"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "pisces.host.client" in loaded
    assert not loaded & {"anyio", "asyncio", "subprocess", "rich", "pisces.runtime", "pisces.sessions", "PIL"}


def test_commands_that_come_while_a_host_is_ending_get_their_results(pisces: Command) -> None:
    brief = {"PI_SET__python__idleTimeout": "0.1"}
    for number in range(8):
        assert pisces("run", "--session", "s", "-c", str(number), variables=brief).stdout == f"{number}\n"
        assert pisces("session", "close", "s").returncode == 0
    assert starts() > 1


def test_a_host_that_has_a_session_outlives_the_idle_time(pisces: Command) -> None:
    brief = {"PI_SET__python__idleTimeout": "1"}
    pisces("run", "--session", "s", "-c", "import time; x = 41; time.sleep(2)", variables=brief)
    assert pisces("run", "--session", "s", "-c", "import time; time.sleep(2); x + 1").stdout == "42\n"
    assert starts() == 1
