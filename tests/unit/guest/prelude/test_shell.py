"""`run`, `sh` and `bash`: what they return, what they stream, and what they tell, with real commands."""

import contextlib
import io
import os
import pickle
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pisces.environment.shell_snapshot import SNAPSHOT_VARIABLE
from pisces.guest.prelude.names import bash, run, sh
from pisces.guest.prelude.shell_output import KeptOutput
from tests.fakes.shells import environment_with_rc
from tests.integration.native.processes import alive

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Commands run here; every descriptor that was opened for them is closed when they have ended."""
    monkeypatch.chdir(tmp_path)
    before = set(os.listdir("/proc/self/fd"))
    yield tmp_path
    deadline = time.monotonic() + 10
    while not set(os.listdir("/proc/self/fd")) <= before:
        assert time.monotonic() < deadline, "descriptors were left open"
        time.sleep(0.01)


@pytest.mark.parametrize("helper", [run, sh, bash])
def test_a_command_returns_what_it_wrote_and_streams_it(
    helper: Any, capsys: pytest.CaptureFixture[str], events: list[dict[str, Any]]
) -> None:
    result = helper("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.returncode, result.code) == ("out\n", "err\n", 3, 3)
    assert result.args == "echo out; echo err >&2; exit 3"
    assert not result
    assert repr(result) == "exit code 3"
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("out\n", "err\n")
    (event,) = events
    assert sorted(event.pop("output").splitlines()) == ["err", "out"]
    assert event == {"op": "sh", "cmd": "echo out; echo err >&2; exit 3", "code": 3}


def test_a_command_that_went_well_is_true_and_shows_nothing_more() -> None:
    result = run("true")
    assert result
    assert repr(result) == ""
    assert result.check() is result


def test_events_have_the_beginning_of_command_and_output(events: list[dict[str, Any]]) -> None:
    run("echo " + "x" * 1000)
    assert (events[0]["cmd"], events[0]["output"]) == ("echo " + "x" * 75, "x" * 500)


def test_a_list_is_run_without_a_shell(events: list[dict[str, Any]], tmp_path: Path) -> None:
    result = run(["printf", "%s|", "$HOME", "a b", "*"])
    assert (result.stdout, result.args) == ("$HOME|a b|*|", ["printf", "%s|", "$HOME", "a b", "*"])
    assert events[0]["cmd"] == "printf '%s|' '$HOME' 'a b' '*'"
    with_path: Any = ["echo", tmp_path]
    assert run(with_path).stdout == f"{tmp_path}\n"


def test_check_raises_with_the_end_of_what_was_said() -> None:
    with pytest.raises(
        subprocess.CalledProcessError, match=r"`seq 1 9999; exit 4` ended with exit code 4:\n"
    ) as raised:
        run("seq 1 9999; exit 4").check()
    assert str(raised.value).endswith("\n9999")
    assert len(str(raised.value)) < 2100
    assert (raised.value.returncode, raised.value.stdout[:4]) == (4, "1\n2\n")


def test_what_commands_raise_can_be_sent_to_another_process() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        sh("echo why; exit 3").check()
    with pytest.raises(TimeoutError) as late:
        sh("echo begun; exec sleep 60", timeout=0.3)
    raised: list[Any] = [failed.value, late.value]
    for error in raised:
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), copy.stdout) == (type(error), str(error), error.stdout)


def test_a_signal_counts_as_in_a_shell() -> None:
    assert run("kill -9 $$").code == 128 + 9


def test_a_command_runs_in_the_folder_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert run("pwd").stdout == f"{tmp_path}\n"
    assert run("pwd", cwd="sub").stdout == f"{tmp_path}/sub\n"
    assert run("pwd", cwd=tmp_path / "sub").stdout == f"{tmp_path}/sub\n"


@pytest.mark.parametrize(
    ("command", "options", "error", "words"),
    [
        ("true", {"cwd": "no/such"}, FileNotFoundError, "no/such"),
        (["no-such-program"], {}, FileNotFoundError, "no-such-program"),
        ("", {}, ValueError, "no command"),
        ([], {}, ValueError, "no command"),
        ("true", {"timeout": 0}, ValueError, "timeout"),
        ("true", {"timeout": float("nan")}, ValueError, "timeout"),
        ("a\0b", {}, ValueError, "null"),
        ([1], {}, TypeError, "int"),
    ],
)
def test_what_cannot_be_run_raises_and_is_told(
    command: Any, options: dict[str, Any], error: type[Exception], words: str, events: list[dict[str, Any]]
) -> None:
    with pytest.raises(error, match=words):
        run(command, **options)
    (event,) = events
    assert event["error"].startswith(error.__name__)


def test_a_command_has_no_terminal_and_nothing_to_read() -> None:
    result = run("tty; cat; (: < /dev/tty) 2>/dev/null || echo none; ps -o tty= -p $$")
    assert result.stdout.split() == ["not", "a", "tty", "none", "?"]


def test_a_command_is_in_a_session_of_its_own() -> None:
    result = run("echo $$; ps -o sid=,pgid= -p $$")
    pid, session, group = result.stdout.split()
    assert pid == session == group


def test_a_command_has_no_descriptor_but_its_own(tmp_path: Path) -> None:
    secret = os.open(tmp_path, os.O_RDONLY)
    try:
        assert run("ls /proc/self/fd").stdout.split() == ["0", "1", "2", "3"]
    finally:
        os.close(secret)


def test_output_goes_where_the_cell_redirects_it(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run("echo a; echo b >&2")
    assert (out.getvalue(), err.getvalue()) == ("a\n", "b\n")
    assert capsys.readouterr().out == ""


def test_output_is_streamed_while_the_command_runs(tmp_path: Path) -> None:
    class Releasing(io.StringIO):
        def write(self, text: str) -> int:
            if "ready" in text:
                (tmp_path / "go").touch()
            return super().write(text)

    with contextlib.redirect_stdout(Releasing()):
        result = run("echo ready; while [ ! -e go ]; do sleep 0.01; done; echo done", timeout=30)
    assert result.stdout == "ready\ndone\n"


def test_a_reader_that_fails_ends_the_command(tmp_path: Path) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise RuntimeError("broken")

    with contextlib.redirect_stdout(Broken()), pytest.raises(RuntimeError, match="broken"):
        run("echo $$ > pid; echo x; sleep 300")
    assert alive([int((tmp_path / "pid").read_text(encoding="ascii"))]) == []


def test_bytes_that_are_no_text_do_not_break_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(r"printf 'gr\303'; sleep 0.05; printf '\274\303\237e \377'").stdout == "grüße \ufffd"
    assert capsys.readouterr().out == "grüße \ufffd"


def test_of_a_long_output_beginning_and_end_are_kept_and_all_of_it_is_streamed() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = run("seq 1 500000")
    whole = "".join(f"{n}\n" for n in range(1, 500_001))
    assert out.getvalue() == whole
    head, note, tail = result.stdout.partition("\n[… ")[0], result.stdout.partition("[… ")[2], result.stdout[-1000:]
    assert whole.startswith(head)
    assert whole.endswith(tail)
    left_out = int(note.split()[0])
    assert left_out == len(whole) - (1 << 20)
    assert len(result.stdout) < (1 << 20) + 100


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_cut_does_not_go_through_a_character(shift: int) -> None:
    kept = KeptOutput()
    kept.take(b"x" * shift + "€".encode() * 1_000_000)
    kept.take(b"")
    text = kept.text()
    assert "\ufffd" not in text
    left_out = int(text.partition("[… ")[2].split()[0])
    kept_bytes = sum(len(part.encode()) for part in (text.partition("\n[…")[0], text.partition("…]\n")[2]))
    assert left_out + kept_bytes == 3_000_000 + shift


def test_what_stays_in_the_background_does_not_hold_the_command_up(tmp_path: Path) -> None:
    result = run("(while [ ! -e go ]; do sleep 0.01; done; seq 1 100000; echo end > done) & echo $! > pid; echo begun")
    assert (result.code, result.stdout) == (0, "begun\n")
    pid = int((tmp_path / "pid").read_text(encoding="ascii"))
    process = psutil.Process(pid)
    (tmp_path / "go").touch()
    # It writes ten times as much as a pipe holds, and comes to its end: somebody reads it.
    process.wait(30)
    assert (tmp_path / "done").read_text(encoding="ascii") == "end\n"


def test_what_the_shell_did_not_wait_for_may_still_say_its_last_words() -> None:
    # It has a moment for it, which on a busy machine may pass before it has been run at all.
    assert "Hi\n" in (run("echo hi > >(tr h H)").stdout for _ in range(5))


def test_a_timeout_raises_with_what_was_written(events: list[dict[str, Any]]) -> None:
    with pytest.raises(TimeoutError, match=r"Command timed out after 1 seconds: echo begun") as raised:
        run("echo begun; echo so >&2; sleep 300", timeout=1)
    assert (raised.value.stdout, raised.value.stderr) == ("begun\n", "so\n")  # type: ignore[attr-defined]  # As the guest raises it.
    assert (events[0]["code"], events[0]["error"].partition(":")[0]) == (130, "CommandTimedOut")


def test_a_command_may_clean_up_when_its_time_has_run_out() -> None:
    with pytest.raises(TimeoutError) as raised:
        run("trap 'echo cleaned up; exit 1' INT; sleep 300 & wait", timeout=1)
    assert raised.value.stdout == "cleaned up\n"  # type: ignore[attr-defined]  # It is a kind of TimeoutError.


@pytest.mark.parametrize("command", ["sleep 300", ["no-such-program"]])
def test_an_interrupt_while_a_command_starts_leaves_nothing_of_it(
    command: str | list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = subprocess.Popen

    def interrupted(*args: Any, **more: Any) -> Any:
        """The real one; that the interrupt comes just then cannot be had otherwise."""
        try:
            return started(*args, **more)
        finally:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    children = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        run(command)
    assert set(psutil.Process().children()) == children


def test_commands_run_side_by_side_in_threads() -> None:
    results: list[str] = []
    names = [f"{n}\n" for n in range(8)]
    threads = [
        threading.Thread(target=lambda n=n: results.append(run(f"sleep 0.1; echo {n}").stdout)) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results) == names


def test_the_snapshot_of_the_shell_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = environment_with_rc(tmp_path / "home", "alias hi='echo hello'")
    monkeypatch.setenv("HOME", env["HOME"])
    monkeypatch.setenv("PATH", env["PATH"])
    monkeypatch.delenv("SHELL", raising=False)
    monkeypatch.setenv(SNAPSHOT_VARIABLE, env[SNAPSHOT_VARIABLE])
    assert run("hi").stdout == "hello\n"
    assert run(["sh", "-c", "hi"]).code == 127


def test_a_result_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(run("echo a; exit 2")))
    assert (again.stdout, again.code) == ("a\n", 2)
