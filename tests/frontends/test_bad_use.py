"""Using the command in a wrong way: one clear message, exit code 2, and nothing is run."""

import os
import pty
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE, Command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "There is no command 'frobnicate'"),
        (["rum"], "Did you mean 'run'?"),
        (["--frobnicate"], "No such option"),
        (["run", "file.py", "-c", "1"], "Both a file (file.py) and -c were given."),
        (["run", "missing.py"], "Cannot read missing.py: No such file or directory."),
        (["run", "."], "Cannot read .: Is a directory."),
        (["run", "-"], "There is no code in standard input."),
        (["run", "-c", "1", "--timeout", "soon"], "'soon' is not a valid float"),
        (["run", "-c", "1", "--timeout", "nan"], "`timeout`: a number of seconds is needed, got NaN"),
        (["run", "-c", "1", "--cwd", "/no/such/folder"], "/no/such/folder"),
        (["run", "-c"], "requires an argument"),
        (["artifact"], "Which one? Give its id"),
        (["artifact", "three"], "ID must be numeric, got: three"),
        (["artifact", "1", "9-1"], "Not a range of lines"),
        (["artifact", "artifact://1:1-2", "3"], "Lines were given twice"),
        (["artifact", "--list", "1"], "--list takes neither an id nor --grep."),
        (["settings", "python.kernelmode"], "Did you mean 'python.kernelMode'?"),
        (["setup", "coffee"], "No such command 'coffee'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_use_is_told_and_exits_with_2(pisces: Command, tmp_path: Path, arguments: list[str], said: str) -> None:
    done = pisces(*arguments, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("", 2), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_to_run_on_a_terminal_is_told(pisces: Command) -> None:
    ours, theirs = pty.openpty()
    try:
        process = pisces.start("run", stdin=theirs)
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (output, process.returncode) == (b"", 2)
    assert b"There is nothing to run." in errors
    assert b"-c" in errors


def test_a_file_that_is_no_text_is_told(pisces: Command, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_bytes(b"x = '\xff\xfe'\n")
    done = pisces("run", "data.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "data.py is not text that Python can read" in done.stderr
    assert "UTF-8" in done.stderr


def test_code_that_is_no_text_is_told(pisces: Command) -> None:
    done = pisces("run", "--json", "-c", os.fsdecode(b"x = '\xff'"))
    assert (done.stdout, done.returncode) == ("", 2)
    assert "What -c gives is not UTF-8, from character 5 on." in done.stderr


def test_a_wrong_setting_is_told_before_anything_runs(pisces: Command) -> None:
    done = pisces("run", "-c", "print('ran')", variables={"PI_SET__python__kernelMode": "sometimes"})
    assert (done.stdout, done.returncode) == ("", 2)
    assert "PI_SET__python__kernelMode" in done.stderr
    assert "sometimes" in done.stderr
    assert "per-call" in done.stderr


def test_an_address_that_is_none_is_a_wrong_setting(pisces: Command) -> None:
    for session in ((), ("--session", "s")):
        done = pisces("run", *session, "-c", "print('ran')", variables={"PI_PYTHON_GATEWAY_URL": "ftp://somewhere"})
        assert (done.stdout, done.returncode) == ("", 2)
        assert "PI_PYTHON_GATEWAY_URL must be an http or https URL, got: 'ftp://somewhere'" in done.stderr


@pytest.mark.parametrize("arguments", [["-h"], ["run", "-h"], ["artifact", "--help"], ["setup", "python", "-h"]])
def test_help_has_an_example(pisces: Command, arguments: list[str]) -> None:
    done = pisces(*arguments)
    assert done.returncode == 0
    assert f"pisces {arguments[0] if len(arguments) > 1 else 'run'} " in done.stdout
