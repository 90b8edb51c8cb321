"""`pisces bash`: what it prints, where, and what it exits with."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.fakes.shells import write_rc
from tests.frontends.command import PATIENCE, Command
from tests.integration.native.processes import alive, pids_in


def test_output_is_printed_in_order_and_the_exit_code_is_that_of_the_command(pisces: Command) -> None:
    done = pisces("bash", "-c", "echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.returncode) == ("out\nerr\n", "Command exited with code 7\n", 7)


def test_a_command_that_went_well_has_nothing_added(pisces: Command) -> None:
    done = pisces("bash", "-c", "printf x")
    assert (done.stdout, done.stderr, done.returncode) == ("x", "", 0)


@pytest.mark.parametrize("arguments", [["-"], []], ids=["dash", "nothing"])
def test_standard_input_is_the_script_and_not_the_input_of_the_command(pisces: Command, arguments: list[str]) -> None:
    done = pisces("bash", *arguments, stdin=b"echo one\ncat\necho two\n")
    assert (done.stdout, done.returncode) == ("one\ntwo\n", 0)


def test_a_script_is_run_as_one_command(pisces: Command, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("f() {\n  echo grüße $X\n}\nf\nexit 5\n", encoding="utf-8")
    done = pisces("bash", str(script), "--env", "X=a=b")
    assert (done.stdout, done.returncode) == ("grüße a=b\n", 5)


def test_the_functions_of_the_user_count(pisces: Command, own_home: Path) -> None:
    write_rc(own_home, "greet() { echo hello; }")
    assert pisces("bash", "-c", "greet").stdout == "hello\n"


def test_the_folder_is_the_one_that_was_given(pisces: Command, tmp_path: Path) -> None:
    assert pisces("bash", "--cwd", str(tmp_path), "-c", "pwd").stdout == f"{tmp_path.resolve()}\n"


def test_a_timeout_exits_with_124(pisces: Command) -> None:
    done = pisces("bash", "--timeout", "4", "-c", "echo begun; sleep 60")
    assert (done.stdout, done.returncode) == ("begun\n", 124)
    assert done.stderr == "Command timed out after 4 seconds\nCommand exited with code 124\n"


def test_what_stays_in_the_background_ends_with_the_command(pisces: Command) -> None:
    done = pisces("bash", "-c", "sleep 300 & echo pids $!")
    assert done.returncode == 0
    assert "Still running: sleep 300" in done.stderr
    assert alive(pids_in(done.stdout)) == []


def test_json_is_one_object_and_nothing_else(pisces: Command) -> None:
    done = pisces("bash", "--json", "-c", "echo a; exit 3")
    result = json.loads(done.stdout)
    assert (result["details"]["cells"][0]["exit_code"], result["details"]["outcome"]) == (3, "error")
    assert (done.stderr, done.returncode) == ("", 3)


def test_no_stream_prints_the_bounded_result(pisces: Command) -> None:
    done = pisces("bash", "--no-stream", "-c", "seq 1 50000")
    assert done.stdout.splitlines()[-1].endswith("Run `pisces artifact 1` for full output]")
    assert pisces("artifact", "1").stdout == "".join(f"{n}\n" for n in range(1, 50_001))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-c", ""], "empty"),
        (["-c", "true", "file"], "Give one of them"),
        (["/no/such/script"], "Cannot read /no/such/script"),
        (["-c", "true", "--env", "X"], "NAME=VALUE"),
        (["-c", "true", "--env", "=x"], "NAME=VALUE"),
        (["-c", "true", "--cwd", "/no/such"], "Working directory"),
        (["-"], "There is no command in standard input"),
    ],
)
def test_bad_use_exits_with_2_and_says_why(pisces: Command, arguments: list[str], words: str) -> None:
    done = pisces("bash", *arguments)
    assert (done.stdout, done.returncode) == ("", 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_stops_the_command_and_exits_with_130(pisces: Command) -> None:
    process = pisces.start("bash", "-c", "trap 'echo cleaned up; exit' INT; echo pids $$; sleep 300 & wait")
    assert process.stdout is not None
    line = process.stdout.readline().decode("ascii")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert (out.decode("ascii"), process.returncode) == ("cleaned up\n", 130)
    assert alive(pids_in(line)) == []


def test_a_terminal_is_not_the_command_s(pisces: Command) -> None:
    leader, follower = os.openpty()
    try:
        process = pisces.start(
            "bash", "-c", "tty; cat; echo x 2>/dev/null >/dev/tty || echo none", stdin=follower, stderr=subprocess.PIPE
        )
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        os.close(leader)
        os.close(follower)
    assert out.decode("ascii") == "not a tty\nnone\n"
