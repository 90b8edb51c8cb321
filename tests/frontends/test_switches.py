"""The log, the stages of the start, and tracebacks: only for those who ask."""

import logging
import stat
from pathlib import Path

import pytest

from pisces.cli.logs import MaskingFormatter
from pisces.environment.mask import SecretMask
from tests.frontends.command import Command


def log_file(home: Path) -> Path:
    return home / ".pisces" / "logs" / "pisces.log"


def test_nothing_is_logged_unasked(pisces: Command, own_home: Path) -> None:
    assert pisces("run", "-c", "1").stderr == ""
    assert not log_file(own_home).exists()


@pytest.mark.parametrize("switch", ["PI_DEBUG", "PI_PYTHON_IPC_TRACE"])
def test_the_log_is_private(pisces: Command, own_home: Path, switch: str) -> None:
    assert pisces("run", "-c", "1", variables={switch: "1"}).returncode == 0
    assert stat.S_IMODE(log_file(own_home).stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_is_told_and_the_run_goes_on(pisces: Command, own_home: Path) -> None:
    (own_home / ".pisces").mkdir()
    (own_home / ".pisces" / "logs").write_text("in the way", encoding="utf-8")
    done = pisces("run", "-c", "1", variables={"PI_DEBUG": "1"})
    assert (done.stdout, done.returncode) == ("1\n", 0)
    assert "No log is written" in done.stderr


def test_secrets_are_masked_in_the_log() -> None:
    formatter = MaskingFormatter(SecretMask({"OPENAI_API_KEY": "sk-verysecretvalue"}))
    record = logging.LogRecord("pisces.ipc", logging.DEBUG, "", 0, "sent %s", ("sk-verysecretvalue",), None)
    assert "verysecret" not in formatter.format(record)


def test_the_stages_of_the_start_are_told_with_times(pisces: Command) -> None:
    done = pisces("run", "-c", "1", variables={"PI_DEBUG_STARTUP": "1"})
    stages = [line.split(" ms  ")[1] for line in done.stderr.splitlines() if line.startswith("[startup]")]
    assert stages[:3] == ["command line", "imports", "settings"]
    assert stages[-1] == "first result"
    assert done.stdout == "1\n"


def test_a_traceback_of_ours_is_shown_to_those_who_debug(pisces: Command) -> None:
    arguments = ("artifact", "1")
    assert "Traceback" not in pisces(*arguments).stderr
    assert "Traceback" in pisces(*arguments, variables={"PI_DEBUG": "1"}).stderr
