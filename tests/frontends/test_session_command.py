"""`pisces run --session` and `pisces session`: state that is there for the next command."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.hosts import end_host, files
from tests.frontends.command import PATIENCE, Command

WAITS = "x = 1\nprint('begun', flush=True)\nimport time\ntime.sleep(600)"


@pytest.fixture
def pisces(plain_python: str) -> Iterator[Command]:
    """`pisces`, whose background host is ended when the test is."""
    command = Command(plain_python)
    yield command
    end_host(command)


@contextmanager
def begun(pisces: Command, code: str = WAITS) -> Iterator["subprocess.Popen[bytes]"]:
    """A command in session `s` with a cell that has begun to run."""
    process = pisces.start("run", "--session", "s", "--timeout", "300", "-c", code)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def run(pisces: Command, code: str, *options: str, session: str = "s") -> "subprocess.CompletedProcess[str]":
    return pisces("run", "--session", session, *options, "-c", code)


def test_the_next_command_finds_what_the_last_one_left(pisces: Command) -> None:
    assert run(pisces, "x = 41").returncode == 0
    done = run(pisces, "x + 1")
    assert (done.stdout, done.returncode) == ("42\n", 0)
    assert "State:" not in done.stderr


def test_a_crash_is_told_and_the_next_command_finds_the_state_of_before_it(pisces: Command) -> None:
    run(pisces, "x = 41")
    crashed = run(pisces, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert crashed.returncode == 1
    assert "[State: restored] The kernel was ended by SIGSEGV." in crashed.stderr
    done = run(pisces, "x + 1")
    assert (done.stdout, done.returncode) == ("42\n", 0)


def test_output_is_shown_while_the_cell_runs_and_headings_stand_where_they_stand_without_a_session(
    pisces: Command, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text("# %% One\nprint('a', end='')\n# %% Two\nprint('b')\n", encoding="utf-8")
    alone, in_session = pisces("run", str(script)), pisces("run", "--session", "s", str(script))
    assert in_session.stdout == alone.stdout == "[1/2] One\na\n[2/2] Two\nb\n"
    with begun(pisces):
        pass  # It has been shown, and the cell has not ended.


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_interrupts_the_cell_and_keeps_the_session(
    pisces: Command, number: signal.Signals, exit_code: int
) -> None:
    with begun(pisces) as process:
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == exit_code
    assert b"KeyboardInterrupt" in output
    assert b"Command was interrupted" in errors
    assert run(pisces, "x").stdout == "1\n"


def test_a_reader_that_goes_away_ends_the_command_and_keeps_the_session(pisces: Command) -> None:
    with begun(pisces, "x = 1\nprint('begun', flush=True)\nwhile True: print('y' * 1000)") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=PATIENCE) == 141
    assert run(pisces, "x").stdout == "1\n"


def test_a_second_signal_ends_at_once_and_the_session_stays(pisces: Command) -> None:
    slow = "x = 1\nprint('begun', flush=True)\nimport time\ntry: time.sleep(600)\nfinally: time.sleep(1)"
    with begun(pisces, slow) as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) in {130, 143}
    assert run(pisces, "x").stdout == "1\n"


def test_a_reader_that_comes_back_after_the_signal_gets_all_that_was_printed(pisces: Command) -> None:
    lines = "x = 0\nprint('begun', flush=True)\nwhile True:\n    x += 1\n    print(f'{x:0100}')"
    with begun(pisces, lines) as process:
        assert process.stdout is not None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)  # By now every buffer between the cell and us is full.
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)  # The call has been stopped while nobody took its output.
        output, errors = process.communicate(timeout=PATIENCE)
    *printed, _ = [line for line in output.decode("utf-8").splitlines() if line.isdecimal()]
    assert printed == [f"{number:0100}" for number in range(1, len(printed) + 1)]
    assert len(printed) > 1000
    assert process.returncode == 130, errors


def test_failure_timeout_and_wrong_use_have_the_exit_codes_of_every_run(pisces: Command) -> None:
    failed = run(pisces, "1 / 0")
    assert failed.returncode == 1
    assert "Command exited with code 1" in failed.stderr
    timed_out = run(pisces, "import time; time.sleep(60)", "--timeout", "1")
    assert timed_out.returncode == 124
    assert "Command timed out after 1 seconds" in timed_out.stderr
    assert run(pisces, "1", "--cwd", "/no/such/folder", session="new").returncode == 2
    assert pisces("run", "--background", "-c", "1").returncode == 2


def test_the_result_as_json_is_that_of_the_tool(pisces: Command) -> None:
    run(pisces, "pass")
    result = json.loads(run(pisces, "6 * 7", "--json").stdout)
    assert result["content"][0]["text"] == "42"
    assert result["details"]["session"] == "s"
    assert result["details"]["kernel"]["generation"] == 1


def test_a_whole_result_is_shown_at_its_end(pisces: Command) -> None:
    run(pisces, "pass")
    assert run(pisces, "print('a'); 2", "--no-stream").stdout == "a\n2\n"


def test_a_mistyped_name_of_a_session_is_noticed(pisces: Command) -> None:
    first, mistyped, again = (run(pisces, "6 * 7", session=name) for name in ("train", "trian", "trian"))
    assert (first.stdout, first.stderr) == ("42\n", "This is a new session 'train'.\n")
    assert mistyped.stderr == "This is a new session 'trian'. Existing sessions: 'train'.\n"
    assert again.stderr == ""


def test_a_session_is_found_from_another_folder_which_is_told_once(pisces: Command, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    pisces("run", "--session", "s", "-c", "import os; x = 41", cwd=home)
    first = pisces("run", "--session", "s", "-c", "print(x, os.getcwd())", cwd=elsewhere)
    assert first.stdout == f"41 {home}\n"
    assert f"The session was made in {home}" in first.stderr
    assert "was made in" not in pisces("run", "--session", "s", "-c", "x", cwd=elsewhere).stderr


def test_a_folder_that_is_named_later_is_gone_to_in_the_same_session(pisces: Command, tmp_path: Path) -> None:
    run(pisces, "import os; x = 41")
    done = run(pisces, "print(x, os.getcwd())", "--cwd", str(tmp_path))
    assert done.stdout == f"41 {tmp_path}\n"
    assert "was made in" not in done.stderr


def test_the_environment_of_the_first_command_counts(pisces: Command) -> None:
    code = "import os; os.environ.get('PI_TEST_FLAVOUR')"
    first = pisces("run", "--session", "s", "-c", code, variables={"PI_TEST_FLAVOUR": "first"})
    second = pisces("run", "--session", "s", "-c", code, variables={"PI_TEST_FLAVOUR": "second"})
    assert (first.stdout, second.stdout) == ("'first'\n", "'first'\n")


def test_what_a_session_cannot_be_is_refused_before_anything_is_run(pisces: Command, ipython_python: str) -> None:
    per_call = pisces("run", "--session", "s", "-c", "1", variables={"PI_SET__python__kernelMode": "per-call"})
    assert per_call.returncode == 2
    assert "python.kernelMode" in per_call.stderr
    wrong = pisces("run", "--session", "s", "-c", "1", variables={"PI_SET__python__checkpoint": "sometimes"})
    assert wrong.returncode == 2
    assert "sometimes" in wrong.stderr
    run(pisces, "1")
    other = run(pisces, "1", "--interpreter", ipython_python)
    assert other.returncode == 2
    assert "pisces session close s" in other.stderr


def test_a_list_starts_no_host(pisces: Command) -> None:
    done = pisces("session", "list")
    assert (done.returncode, done.stdout) == (0, "There is no session: the background host is not running.\n")
    assert json.loads(pisces("session", "list", "--json").stdout)["details"]["sessions"] == []
    closing = pisces("session", "close", "s")
    assert closing.returncode == 1
    assert closing.stderr.startswith("Error: There is no session")
    assert files().record() is None


def test_sessions_are_listed_branched_taken_back_and_closed(pisces: Command) -> None:
    run(pisces, "x = 1")
    assert pisces("session", "checkpoint", "s", "one").returncode == 0
    run(pisces, "x = 2")
    assert pisces("session", "branch", "s", "t").returncode == 0
    assert pisces("session", "undo", "s").returncode == 0
    assert (run(pisces, "x").stdout, run(pisces, "x", session="t").stdout) == ("1\n", "2\n")
    run(pisces, "x = 3")
    assert pisces("session", "restore", "s", "one").returncode == 0
    assert run(pisces, "x").stdout == "1\n"
    assert "x" in pisces("session", "variables", "s").stdout
    listed = json.loads(pisces("session", "list", "--json").stdout)["details"]["sessions"]
    assert sorted(info["id"] for info in listed) == ["s", "t"]
    assert pisces("session", "close", "s", "t").returncode == 0
    assert pisces("host", "status").stdout.endswith("It has no sessions.\n")
    fresh = run(pisces, "'x' in globals()")
    assert fresh.stdout == "False\n"
    assert "State:" not in fresh.stderr


def test_an_unknown_session_is_refused_with_those_that_there_are(pisces: Command) -> None:
    run(pisces, "1")
    done = pisces("session", "undo", "nobody")
    assert done.returncode == 1
    assert "'nobody'" in done.stderr
    assert "Sessions: s" in done.stderr


def test_every_session_can_be_closed_at_once(pisces: Command) -> None:
    run(pisces, "1")
    run(pisces, "1", session="t")
    assert pisces("session", "close", "--all").returncode == 0
    assert json.loads(pisces("host", "status", "--json").stdout)["sessions"] == []
    assert "no session to close" in pisces("session", "close", "--all").stderr
    assert pisces("session", "close").returncode == 2


def test_a_job_goes_on_without_its_command_and_is_waited_for(pisces: Command, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    code = f"import os, time\nprint('go', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n5"
    started = run(pisces, code, "--background")
    assert started.returncode == 0
    assert "pisces session wait job-1" in started.stderr
    assert "job-1" in pisces("session", "jobs").stdout
    assert pisces("session", "wait", "job-1", "--timeout", "1").returncode == 124
    gate.touch()
    done = pisces("session", "wait", "job-1")
    assert done.returncode == 0
    assert done.stdout.endswith("go\n5\n")
    assert "go" in pisces("session", "output", "job-1").stdout


def test_a_job_is_cancelled_and_its_session_stays(pisces: Command) -> None:
    run(pisces, "x = 1")
    run(pisces, "import time; time.sleep(600)", "--background")
    assert pisces("session", "cancel", "job-1").returncode == 0
    assert pisces("session", "wait", "job-1").returncode == 130
    assert run(pisces, "x").stdout == "1\n"


def test_another_command_interrupts_the_running_cell(pisces: Command) -> None:
    with begun(pisces) as process:
        assert pisces("session", "interrupt", "s").returncode == 0
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Command was interrupted" in errors


def test_a_session_is_exported_as_a_notebook_in_the_folder_at_hand(pisces: Command, tmp_path: Path) -> None:
    run(pisces, "6 * 7")
    assert pisces("session", "export", "s", cwd=tmp_path).returncode == 0
    notebook = json.loads((tmp_path / "s.ipynb").read_text(encoding="utf-8"))
    assert [cell["source"] for cell in notebook["cells"]] == ["6 * 7"]


def test_a_stopped_host_takes_its_sessions_along_and_that_is_told_once(pisces: Command) -> None:
    run(pisces, "x = 1")
    status = pisces("host", "status")
    assert status.returncode == 0
    assert os.getcwd() in status.stdout
    assert "Sessions that ended with it: s." in pisces("host", "stop").stderr
    assert pisces("host", "status").returncode == 1
    first = run(pisces, "'x' in globals()")
    assert first.stdout == "False\n"
    assert "[State: lost] The background host that kept the session was stopped." in first.stderr
    assert "State:" not in run(pisces, "1").stderr
